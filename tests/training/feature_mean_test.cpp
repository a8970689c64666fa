// The private mean of features: what is released, what it costs, and that a run with one is resumed
// to the bit.
#include <cmath>
#include <fstream>

#include "fixtures.h"
#include "harness/accounting/accountant.h"
#include "harness/base/files.h"
#include "harness/mechanism/batches.h"
#include "harness/training/batch_reader.h"
#include "harness/training/setup.h"
#include "harness/training/whole_split.h"

namespace hyfreedp::training {
namespace feature_mean_test {

using torch::Tensor;

trial::TrialConfig centred_config(std::int64_t steps = 12) {
  auto config = small_config(steps);
  config.privacy.asked.feature_mean = trial::FeatureMean{.norm = 2.5, .noise = 8};
  return config;
}

Tensor mean_of(const trial::PrivacyPlan& plan, const Tensor& features, std::int64_t attempt = 0) {
  return release_feature_mean(plan, random::key_from_seed("feature mean"), attempt, features);
}

// At the public N, whatever the rows; a longer vector counts at norm R, one that is not finite not
// at all.
TEST(FeatureMean, IsOfClippedVectorsOverThePublicSize) {
  trial::PrivacyPlan plan;
  plan.is_private = false;
  plan.population = 10;
  plan.asked.feature_mean = trial::FeatureMean{.norm = 5, .noise = 0};
  const auto rows =
      torch::tensor({{3.0, 4.0}, {-30.0, 40.0}, {0.0, 0.0}, {1.0, 0.0}, {std::nan(""), 1.0}, {HUGE_VAL, 0.0}},
                    torch::kFloat32);
  const auto mean = mean_of(plan, rows);
  EXPECT_EQ(mean.scalar_type(), torch::kFloat64);
  EXPECT_NEAR(mean[0].item<double>(), (3 - 3 + 0 + 1) / 10.0, 1e-15);
  // Rows at the bound are cut by what is left to rounding (harness/trial/sum_rounding.h): 2 k u n.
  EXPECT_NEAR(mean[1].item<double>(), (4 + 4) / 10.0, 2 * 4096 * 0x1p-53 * 10);
  EXPECT_LT(mean[1].item<double>(), (4 + 4) / 10.0);
}

// No row's presence moves the sum by more than R: the sensitivity that the noise is scaled by.
TEST(FeatureMean, OneRowMovesTheSumByItsNormAtMost) {
  trial::PrivacyPlan plan;
  plan.is_private = false;
  plan.population = 1;
  plan.asked.feature_mean = trial::FeatureMean{.norm = 0.7, .noise = 0};
  const auto rows = torch::randn({40, 6}, torch::kFloat32) * torch::logspace(-3, 6, 40).unsqueeze(1);
  const auto whole = mean_of(plan, rows);
  double most = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    const auto without = at::cat({rows.narrow(0, 0, i), rows.narrow(0, i + 1, 39 - i)});
    most = std::max(most, (whole - mean_of(plan, without)).norm().item<double>());
  }
  EXPECT_LE(most, 0.7);
  EXPECT_GT(most, 0.7 * (1 - 1e-12));
}

// 20,000 coordinates: the sd of an empty sum is noise R / N within 6 of its own standard errors
// (0.5 %); a fixed seed, false failures 2e-9. Scales of 2/3 and 3/2 are far outside.
TEST(FeatureMean, ItsNoiseHasTheSensitivitysScale) {
  auto plan = centred_config().privacy;
  const auto nobody = torch::zeros({0, 20000}, torch::kFloat32);
  const auto noise = mean_of(plan, nobody);
  const double expected = 8 * 2.5 / 600;
  EXPECT_NEAR(noise.std().item<double>() / expected, 1, 6 * std::sqrt(0.5 / 20000));
  EXPECT_NEAR(noise.mean().item<double>() / expected, 0, 6 / std::sqrt(20000.0));
  EXPECT_FALSE(at::equal(noise, mean_of(plan, nobody, 1)));
  const auto elsewhere = release_feature_mean(plan, random::key_from_seed("another run"), 0, nobody);
  EXPECT_FALSE(at::equal(noise, elsewhere));
  // Step 0's gradient has noise of its own.
  auto gradient = torch::zeros({20000}, torch::kFloat64);
  random::add_normals(random::key_from_seed("feature mean"),
                      address_of(random::Purpose::gradient_noise, 0, 0), 0, expected,
                      std::span<double>(gradient.mutable_data_ptr<double>(), 20000));
  const auto product = (gradient / expected * noise / expected).mean().item<double>();
  EXPECT_NEAR(product, 0, 6 / std::sqrt(20000.0));
  plan.asked.feature_mean->noise = 0;
  EXPECT_THROW(mean_of(plan, nobody), std::logic_error);
}

TEST(FeatureMean, IsTakenOffWhatWasGiven) {
  const auto config = centred_config();
  auto setup = set_up(config, data_of(config));
  ASSERT_TRUE(setup) << setup.error().message;
  const auto features = data_of(config).test.features;
  const auto all = [&] {
    std::vector<Tensor> parts;
    setup->test.for_all([&](const Microbatch& batch) { parts.push_back(batch.features.clone()); });
    return at::cat(parts);
  };
  EXPECT_TRUE(at::equal(all(), features));
  setup->test.centre(torch::full({8}, 3.0, torch::kFloat64));
  setup->test.centre(torch::full({8}, 0.5, torch::kFloat64));
  EXPECT_TRUE(at::equal(all(), features - 0.5));
}

mechanism::Journal journal_of(const trial::TrialConfig& config, const std::string& path) {
  const auto end = run_once(config, path);
  EXPECT_EQ(end.finish.state, trial::TrialState::finished) << end.finish.kind << ": " << end.finish.message;
  return mechanism::read_journal(path).value();
}

TEST(FeatureMean, IsBookedOnceAndPriced) {
  const TemporaryFolder folder;
  const auto config = centred_config();
  const auto journal = journal_of(config, folder.file("a.jsonl"));
  ASSERT_EQ(journal.executed.size(), 2U);
  EXPECT_EQ(std::get<accounting::Batch>(journal.executed[0].what).releases.at(0).purpose, "feature-mean");
  EXPECT_EQ(std::get<accounting::Batch>(journal.executed[1].what).count, 12);
  const auto plain = accounting::epsilon_pld({.events = {journal.executed[1]}}, 1e-5);
  const auto beside = accounting::epsilon_pld({.events = journal.executed}, 1e-5);
  ASSERT_TRUE(plain && beside);
  EXPECT_GT(beside->epsilon, plain->epsilon * 1.01);
  EXPECT_NE(config.id(), small_config().id());
}

// A mean too small to move any feature still changes the first step's hash, and nothing else.
TEST(FeatureMean, TheFirstStepsHashCoversIt) {
  auto config = exact_config(2);
  config.privacy.asked.feature_mean = trial::FeatureMean{.norm = 1e-30, .noise = 0};
  const auto tiny = journal_under_one_key(config);
  const auto none = journal_under_one_key(exact_config(2));
  EXPECT_EQ(metric_of(tiny, "test", "loss"), metric_of(none, "test", "loss"));
  EXPECT_NE(tiny.steps.at(0).hash, none.steps.at(0).hash);
  EXPECT_EQ(tiny.steps.at(1).hash, none.steps.at(1).hash);
}

// Cut at any byte of its journal, the run ends with the bits of the undisturbed one, and with its
// price.
TEST(FeatureMean, ATornRunIsResumedToTheSameBits) {
  const TemporaryFolder folder;
  const auto config = centred_config();
  const auto whole = journal_of(config, folder.file("whole.jsonl"));
  const auto text = read_file(folder.file("whole.jsonl")).value();
  for (const double part : {0.3, 0.5, 0.9}) {
    const auto path = folder.file("torn.jsonl");
    std::ofstream(path, std::ios::trunc)
        << text.substr(0, static_cast<std::size_t>(part * double(text.size())));
    const auto resumed = journal_of(config, path);
    EXPECT_EQ(resumed.attempt, 0);
    EXPECT_EQ(hashes_of(resumed), hashes_of(whole));
    EXPECT_EQ(resumed.executed.size(), 2U);
    EXPECT_EQ(metric_of(resumed, "test", "loss"), metric_of(whole, "test", "loss"));
  }
  // On another machine it is another release, and both are charged.
  const auto elsewhere = folder.file("elsewhere.jsonl");
  {
    auto writer = mechanism::JournalWriter::open(elsewhere, config, {{"device", "another machine"}});
    ASSERT_TRUE(writer);
    ASSERT_TRUE((**writer).ensure_booked(0));
  }
  const auto again = journal_of(config, elsewhere);
  EXPECT_EQ(again.attempt, 1);
  EXPECT_EQ(again.executed.size(), 4U);
  EXPECT_NE(hashes_of(again).front(), hashes_of(whole).front());
}

TEST(FeatureMean, SequencesHaveNone) {
  auto config = small_config(1);
  use_example(config, **models::find_model("gpt2"));
  config.privacy.asked.feature_mean = trial::FeatureMean{.norm = 1, .noise = 8};
  const auto refused = set_up(config, data_of(config));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, "invalid-config");
  EXPECT_NE(refused.error().message.find(
                "needs a vector of features for each record, and 'synthetic-tokens' has none."),
            std::string::npos)
      << refused.error().message;
}

}  // namespace feature_mean_test
}  // namespace hyfreedp::training
