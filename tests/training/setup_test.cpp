// What is refused before step 0 since the data is not what was declared, and what the bits of a run
// depend on.
#include "harness/training/setup.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace setup_test {

void expect_refused(const datasets::Dataset& data, const std::string& says) {
  const auto refused = set_up(small_config(), data);
  ASSERT_FALSE(refused) << says;
  EXPECT_EQ(refused.error().kind, "invalid-config");
  EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
}

// A released score is divided by the declared size, and q draws from the declared N.
TEST(Setup, SplitsHaveTheirDeclaredSizes) {
  for (const auto split : {&datasets::Dataset::private_train, &datasets::Dataset::private_validation}) {
    auto data = data_of(small_config());
    auto& rows = data.*split;
    const auto count = rows.features.size(0) - 1;
    rows = {rows.features.narrow(0, 0, count), rows.labels.narrow(0, 0, count)};
    expect_refused(data, "has " + std::to_string(count));
  }
}

TEST(Setup, LabelsAreClasses) {
  for (const auto split : {&datasets::Dataset::private_train, &datasets::Dataset::private_validation,
                           &datasets::Dataset::test}) {
    for (const int wrong : {-1, 3}) {
      auto data = data_of(small_config());
      (data.*split).labels[7] = wrong;
      expect_refused(data, "labels outside 0 .. 2");
    }
  }
}

TEST(Setup, TheMicrobatchIsTheConfigsOrTheModels) {
  const auto largest = [](const trial::TrialConfig& config) {
    auto setup = set_up(config, data_of(config));
    std::int64_t most = 0;
    setup->train.for_all([&](const Microbatch& batch) { most = std::max(most, batch.labels.size(0)); });
    return most;
  };
  auto config = small_config();
  EXPECT_EQ(largest(config), 600);
  config.training.microbatch = 7;
  EXPECT_EQ(largest(config), 7);
}

// Copies are samples in memory, too: what is bounded is their number.
TEST(Setup, AMicrobatchCountsCopies) {
  auto config = small_config();
  use_example(config, **models::find_model("resnet"));
  config.training.microbatch = 12;
  config.training.augmentation = {.copies = 5, .flip = true, .shift = 1};
  auto setup = set_up(config, data_of(config));
  ASSERT_TRUE(setup) << setup.error().message;
  setup->augmentation->draw_from(random::key_from_seed("copies"), {});
  setup->train.augment(&*setup->augmentation);
  std::int64_t most = 0;
  setup->train.for_all([&](const Microbatch& batch) { most = std::max(most, batch.features.size(0)); });
  EXPECT_EQ(most, 10);
}

TEST(Fingerprint, ChangesWithThreadsAndDevice) {
  const int before = at::get_num_threads();
  const auto usual = fingerprint("cpu");
  EXPECT_EQ(usual, fingerprint("cpu"));
  EXPECT_NE(usual, fingerprint("cuda"));
  at::set_num_threads(before + 1);
  EXPECT_NE(usual, fingerprint("cpu"));
  at::set_num_threads(before);
}

// What MKL is told outside the program changes the order of its sums on the same machine.
TEST(Fingerprint, ChangesWithWhatTheLibrariesAreTold) {
  const std::string usual(fingerprint("cpu").at("arithmetic").as_string());
  EXPECT_EQ(usual.size(), 16U);
  // In processes of their own, which read it when they begin.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("USUAL_ARITHMETIC", usual.c_str(), 0);  // of the first process
  const auto is_usual = [] {
    return fingerprint("cpu").at("arithmetic").as_string() == std::getenv("USUAL_ARITHMETIC");
  };
  EXPECT_EXIT(std::exit(is_usual() ? 0 : 1), ::testing::ExitedWithCode(0), "");
  ::setenv("MKL_CBWR", "COMPATIBLE", 1);
  EXPECT_EXIT(std::exit(is_usual() ? 1 : 0), ::testing::ExitedWithCode(0), "");
  ::unsetenv("MKL_CBWR");
}

}  // namespace setup_test
}  // namespace hyfreedp::training
