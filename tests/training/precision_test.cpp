// Runs in bfloat16, probes in another precision than the step, and what bounds a run's memory.
#include "harness/training/precision.h"

#include <gtest/gtest.h>

#include "harness/models/model.h"
#include "harness/training/gradient.h"
#include "harness/training/setup.h"
#include "tests/models/compare.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace precision_test {

const random::Key kKey = random::key_from_seed("tests of precision");

trial::TrainingOptions options_of(const json::object& given) {
  return trial::TrainingOptions::from_json(given, "test").value();
}

mechanism::Journal journal_of(trial::TrialConfig config, const json::object& given) {
  config.training = options_of(given);
  return journal_under_one_key(config);
}

TEST(Precision, ABfloat16RunStaysCloseToAFloat32Run) {
  auto config = exact_config(30);
  config.model = model_named("mlp", {{"hidden", json::array{16}}});
  const auto wide = journal_of(config, {});
  const auto narrow = journal_of(config, {{"precision", "bf16"}});
  EXPECT_NE(hashes_of(wide), hashes_of(narrow));
  const double loss = metric_of(wide, "test", "loss");
  EXPECT_NEAR(metric_of(narrow, "test", "loss"), loss, 0.03 * loss);
}

TEST(Precision, ClippedSamplesAreWithinTheSensitivityInFloat32) {
  const auto data = data_of(small_config());
  auto network = models::make_model(
                     "mlp", model_named("mlp", {{"hidden", json::array{6}}, {"last_layer", "he"}}).options,
                     {.features = 8, .classes = 3}, kKey, torch::kFloat32)
                     .value();
  network.set_compute_type(torch::kBFloat16);
  BatchReader reader(data.private_train, torch::kFloat32, 64);
  auto sum = torch::zeros({network.dimension()});
  for (std::int64_t row = 0; row < 40; ++row) {
    clipped_gradient_sum(network, models::Loss::cross_entropy, {trial::ClippingRule::abadi, 1e-2}, reader,
                         {.count = 1, .all = false, .indices = {row}}, sum);
    EXPECT_EQ(sum.scalar_type(), torch::kFloat32);
    EXPECT_NEAR(sum.to(torch::kFloat64).norm().item<double>(), 1e-2, 1e-7);
  }
}

TEST(Precision, ASampleThatIsNotFiniteCountsAsNothing) {
  auto data = data_of(small_config());
  auto network = models::make_model("linear", model_named("linear", {{"init", "he"}}).options,
                                    {.features = 8, .classes = 3}, kKey, torch::kFloat32)
                     .value();
  network.set_compute_type(torch::kBFloat16);
  const auto sum_of = [&](const Rows& rows) {
    BatchReader reader(data.private_train, torch::kFloat32, 64);
    auto sum = torch::zeros({network.dimension()});
    clipped_gradient_sum(network, models::Loss::cross_entropy, {}, reader, rows, sum);
    return sum;
  };
  const auto expected = sum_of({.count = 3, .all = false, .indices = {0, 1, 3}});
  data.private_train.features[2][4] = std::nanf("");
  const auto sum = sum_of({.count = 4, .all = false, .indices = {0, 1, 2, 3}});
  EXPECT_TRUE(models::near_relative(sum, expected, 1e-6));
}

TEST(Precision, IsForFloat32) {
  const TemporaryFolder folder;
  auto config = small_config(3);
  config.dtype = "float64";
  config.training = options_of({{"precision", "bf16"}});
  const auto end = run_once(config, folder.file("journal"));
  EXPECT_EQ(end.finish.kind, "invalid-config");
}

TEST(ProbePrecision, ProbesInBfloat16LeaveTheGradientAlone) {
  for (const bool separate : {false, true}) {
    auto config = probing_config(separate);
    config.model = model_named("linear", {{"init", "he"}});  // zero weights: losses are log 3
    const auto wide = journal_of(config, {});
    const auto narrow = journal_of(config, {{"probe_precision", "bf16"}});
    const auto loss_at = [](const mechanism::Journal& journal) {
      return journal.steps.front().scalars.at("private_loss");
    };
    EXPECT_NE(loss_at(wide), loss_at(narrow));
    EXPECT_NEAR(loss_at(wide), loss_at(narrow), 0.02 * std::abs(loss_at(wide)) + 1e-3);
    EXPECT_NE(hashes_of(wide)[0], hashes_of(narrow)[0]);
  }
}

// All three losses of a probe are of one function: at equal weights they are equal, whatever the
// step computes in.
TEST(ProbePrecision, GuardPutsTheTypeBack) {
  auto network = models::make_model("linear", model_named("linear", {}).options,
                                    {.features = 8, .classes = 3}, kKey, torch::kFloat32)
                     .value();
  {
    const ComputeType narrow(network, trial::Precision::bf16);
    EXPECT_EQ(network.compute_type(), torch::kBFloat16);
    const ComputeType wide(network, trial::Precision::float32);
    EXPECT_EQ(network.compute_type(), torch::kFloat32);
  }
  EXPECT_EQ(network.compute_type(), torch::kFloat32);
}

TEST(Tf32, HoldsForAWhile) {
  const bool before = at::globalContext().allowTF32CuBLAS();
  {
    const Tf32 allowed(true);
    EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
    const Tf32 refused(false);
    EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
    EXPECT_FALSE(at::globalContext().allowTF32CuDNN());
  }
  EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), before);
}

// Audits train on several threads of one process. A switch that each run turned off and on again
// would be read by one thread while another is writing it.
TEST(Tf32, IsOffOnceADeviceWasChosenSoThatNoRunNeedsToWriteTheSwitch) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has just begun
  EXPECT_EXIT(
      {
        const bool on_at_first = at::globalContext().allowTF32CuDNN();
        const bool found = static_cast<bool>(find_device("cpu"));
        const bool on = at::globalContext().allowTF32CuDNN() || at::globalContext().allowTF32CuBLAS();
        std::exit(on_at_first && found && !on ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(Tf32, IsOnInARunThatAsksForItAndInNoOther) {
  for (const bool asked : {true, false}) {
    auto config = small_config(2);
    config.training.tf32 = asked;
    const TemporaryFolder folder;
    const auto writer = mechanism::JournalWriter::open(folder.file("a"), config, fingerprint("cpu")).value();
    const auto data = data_of(config);
    const Tf32 before(!asked);
    int steps = 0;
    const auto look = [&](std::int64_t, const Scalars&) {
      EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), asked);
      EXPECT_EQ(at::globalContext().allowTF32CuDNN(), asked);
      ++steps;
    };
    ASSERT_TRUE(train({.config = config,
                       .dataset = data,
                       .key = seeded_key(config),
                       .journal = *writer,
                       .progress = look}));
    EXPECT_EQ(steps, 2);
    EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), !asked);
  }
}

}  // namespace precision_test
}  // namespace hyfreedp::training
