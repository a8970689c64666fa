// A trial's identity is the hash of its config: two configs of one identity would share a run and a
// row.
#include "harness/trial/trial_config.h"

#include <functional>
#include <gtest/gtest.h>
#include <set>

#include "harness/mechanism/releases.h"
#include "harness/trial/config_text.h"
#include "tests/trial/fixtures.h"

namespace hyfreedp::trial {
namespace trial_config_test {

using Change = std::function<void(TrialConfig&)>;

const std::vector<std::pair<const char*, Change>>& changes() {
  static const std::vector<std::pair<const char*, Change>> all = {
      {"dataset", [](auto& config) { config.dataset.name = "synthetic"; }},
      {"its options", [](auto& config) { config.dataset.options["features"] = "pixels"; }},
      {"shift set",
       [](auto& config) {
         config.ood_test = {{"a", config.dataset}};
       }},
      {"its id",
       [](auto& config) {
         config.ood_test = {{"b", config.dataset}};
       }},
      {"model", [](auto& config) { config.model.options["init"] = "he"; }},
      {"optimizer", [](auto& config) { config.optimizer.options["weight_decay"] = 0.02; }},
      {"controller", [](auto& config) { config.controller.options["lr"] = 2e-3; }},
      {"population", [](auto& config) { config.privacy.population = 50001; }},
      {"batch size", [](auto& config) { config.privacy.batch_size = 1001; }},
      {"sample rate", [](auto& config) { config.privacy.sample_rate = 0.021; }},
      {"clipping", [](auto& config) { config.privacy.clipping.rule = ClippingRule::abadi; }},
      {"clipping constant", [](auto& config) { config.privacy.clipping.constant = 0.02; }},
      {"released",
       [](auto& config) {
         config.privacy.clipping.rule = ClippingRule::abadi;
         config.privacy.released = Released::loss_change;
       }},
      {"groups", [](auto& config) { config.privacy.clipping.groups = ClippingGroups::per_layer; }},
      {"noise", [](auto& config) { config.privacy.gradient_noise = 1.6; }},
      {"accounting", [](auto& config) { config.privacy.accounting = "folded"; }},
      {"feature mean",
       [](auto& config) {
         config.privacy.asked.feature_mean = FeatureMean{1, 8};
       }},
      {"every", [](auto& config) { config.evaluation.every = 5; }},
      {"oracle", [](auto& config) { config.evaluation.oracle_validation = true; }},
      {"oracle of training", [](auto& config) { config.evaluation.oracle_train = true; }},
      {"score", [](auto& config) { config.evaluation.score = ScoreRelease{30}; }},
      {"score of losses",
       [](auto& config) {
         config.evaluation.score = ScoreRelease{30, 4};
       }},
      {"norms", [](auto& config) { config.evaluation.recorded.released_norms = true; }},
      {"residual", [](auto& config) { config.evaluation.recorded.noise_residual = true; }},
      {"gradient norms", [](auto& config) { config.evaluation.recorded.gradient_norms = true; }},
      {"texts", [](auto& config) { config.evaluation.recorded.written.emplace(); }},
      {"how they are written",
       [](auto& config) { config.evaluation.recorded.written = GenerationOptions{.tokens = 9}; }},
      {"training", [](auto& config) { config.training.microbatch = 7; }},
      {"steps", [](auto& config) { config.steps = 8; }},
      {"seed", [](auto& config) { config.seed = 1; }},
      {"repetition", [](auto& config) { config.repetition = 1; }},
      {"noise seed", [](auto& config) { config.noise_seed = "other"; }},
      {"no noise seed", [](auto& config) { config.noise_seed.reset(); }},
      {"device", [](auto& config) { config.device = "cuda"; }},
      {"type", [](auto& config) { config.dtype = "float64"; }}};
  return all;
}

TEST(TrialConfig, EveryFieldIsPartOfTheIdentityAndIsReadBack) {
  std::set<std::string> ids = {private_config(7).id()};
  for (const auto& [name, change] : changes()) {
    auto config = private_config(7);
    change(config);
    EXPECT_TRUE(ids.insert(config.id()).second) << name;
    const auto back = TrialConfig::from_json(config.to_json(), "test");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->id(), config.id()) << name;
  }
}

// ConfigText keeps what it wrote of the config before: nothing of that may stay that is another's.
TEST(ConfigText, IsTheCanonicalJsonOfEachConfig) {
  ConfigText texts;
  auto many = changes();
  many.push_back(
      {"precision of probes", [](auto& config) { config.training.probe_precision = Precision::bf16; }});
  many.push_back({"precision", [](auto& config) { config.training.precision = Precision::bf16; }});
  many.push_back({"minus zero", [](auto& config) { config.privacy.gradient_noise = -0.0; }});
  many.push_back({"zero", [](auto& config) { config.privacy.gradient_noise = 0; }});
  many.push_back({"a whole number", [](auto& config) { config.model.options["gain"] = 1; }});
  many.push_back({"the same as a real one", [](auto& config) { config.model.options["gain"] = 1.0; }});
  for (const auto& [name, change] : many) {
    auto config = private_config(7);
    change(config);
    EXPECT_EQ(texts.of(config), canonical_json(config.to_json())) << name;
    EXPECT_EQ(texts.id_of(config), config.id()) << name;
  }
  for (const auto& [name, change] : many) {
    auto config = private_config(7);
    EXPECT_EQ(texts.id_of(config), config.id()) << "before " << name;
    change(config);
    EXPECT_EQ(texts.id_of(config), config.id()) << name;
  }
  auto probed = private_config(7);
  for (const int points : {3, 5}) {
    probed.privacy.probe = ProbePlan{.points = points};
    EXPECT_EQ(texts.id_of(probed), probed.id());
  }
}

TEST(TrialConfig, EventsAreThoseOfTheStepsAndOfTheScore) {
  auto config = private_config(7);
  EXPECT_EQ(mechanism::events(config).size(), 1U);
  config.evaluation.score = ScoreRelease{30};
  const auto events = mechanism::events(config);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].split, kValidationSplit);
  const auto& batch = std::get<accounting::Batch>(events[1].what);
  EXPECT_EQ(batch.sample_rate, 1);
  EXPECT_EQ(batch.releases.at(0).noise_multiplier, 30);
}

}  // namespace trial_config_test
}  // namespace hyfreedp::trial
