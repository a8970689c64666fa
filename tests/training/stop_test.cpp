// A run that is told to stop at any moment at which it asks, and goes on, is the undisturbed run:
// the same bits, the same values, the same weights, the same charge.
#include "harness/base/files.h"
#include "tests/training/resumable.h"

namespace hyfreedp::training {
namespace {

// A run with its weights, which it keeps.
class Kept : public Resumable {
 public:
  Kept(const trial::TrialConfig& config, const datasets::Dataset& data) : Resumable(config, data) {
    weights_ = weights_folder_.file("kept");
  }
  std::string weights() const { return read_file(weights_ + "/model.safetensors").value(); }

 private:
  TemporaryFolder weights_folder_;
};

// Four steps, an evaluation and a probe between them, all kinds of evaluations after the last, in
// several microbatches each.
trial::TrialConfig shortened(trial::TrialConfig config) {
  config.steps = 4;
  config.evaluation.every = 2;
  config.training.microbatch = 40;
  if (config.privacy.probe) config.privacy.probe->interval = 2;
  if (config.controller.options.contains("interval")) config.controller.options["interval"] = 2;
  return config;
}

// The state of each of these is another one, and so is what follows the last step.
std::vector<trial::TrialConfig> most_different() {
  std::vector<trial::TrialConfig> configs{probing_config(true), probing_config(false)};
  configs.front().training.average = trial::Average::ema;
  configs.front().evaluation.score = trial::ScoreRelease{.noise_counts = 5};
  configs.back().controller = controller_named("hyfreedp-plus");
  configs.back().evaluation.oracle_train = configs.back().evaluation.oracle_validation = true;
  configs.push_back(small_config());
  configs.back().optimizer = optimizer_named("sgd", {{"momentum", 0.9}, {"free_step", true}});
  return configs;
}

void expect_same(const Kept& run, const Kept& whole) {
  const auto journal = run.journal();
  EXPECT_EQ(journal.attempt, 0);
  expect_same_outcome(journal, whole.journal());
  EXPECT_EQ(events_of(journal), events_of(whole.journal()));
  EXPECT_EQ(run.weights(), whole.weights());
}

// At about `most` of the moments, evenly; each other time while a checkpoint beside training may be
// on its way.
void stop_at_asks(const trial::TrialConfig& given, int most) {
  const auto config = shortened(given);
  SCOPED_TRACE(canonical_json(config.to_json()));
  const auto data = data_of(config);
  Kept whole(config, data);
  int asks = 0;
  ASSERT_EQ(whole.run_until([&] { return ++asks < 0; }).finish.state, trial::TrialState::finished);
  ASSERT_GT(asks, config.steps);
  int stops = 0, tries = 0;
  for (int ask = 1; ask <= asks && !::testing::Test::HasFailure(); ask += std::max(1, asks / most)) {
    SCOPED_TRACE(fmt::format("stopped at ask {} of {}", ask, asks));
    Kept run(config, data);
    int asked = 0;
    const bool stopped = run.run_until([&] { return ++asked >= ask; }, ++tries % 2 == 0 ? 1e-9 : 0).stopped;
    stops += stopped ? 1 : 0;
    EXPECT_GE(asked, ask) << "it asked at other moments than the undisturbed run";
    EXPECT_EQ(run.problem_, "");
    if (stopped) {
      const auto done = run.done_;
      ASSERT_EQ(run.run().finish.state, trial::TrialState::finished);
      // One step more than its state has was done for the sake of a hash.
      if (done < config.steps) {
        EXPECT_GE(run.from_, done - 1) << "what was done is lost";
      }
    }
    expect_same(run, whole);
  }
  EXPECT_GT(stops, tries / 2) << "hardly any of these moments was one";
}

TEST(Stop, AtEveryMomentIsWithoutConsequence) {
  for (const auto& config : most_different()) stop_at_asks(config, 1000);
}

TEST(Stop, IsWithoutConsequenceForEveryState) {
  for (const auto& config : every_state()) {
    stop_at_asks(config, 2);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace hyfreedp::training
