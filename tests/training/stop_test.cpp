// A run that is told to stop at any moment at which it asks, and goes on, is the undisturbed run:
// the same bits, the same values, the same weights, the same charge.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "tests/training/resumable.h"

namespace hyfreedp::training {
namespace stop_test {

using ::testing::IsEmpty;

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

// All that must not depend on a stop.
json::object outcome_of(const Kept& run) {
  const auto journal = run.journal();
  const auto finish = journal.finish.value_or(trial::Finish{});
  return {{"attempt", journal.attempt},
          {"steps", as_json(journal.steps)},
          {"metrics", as_json(journal.metrics)},
          {"state", name_of(finish.state)},
          {"kind", finish.kind},
          {"notes", as_json(finish.notes)},
          {"counts", as_json(finish.counts)},
          {"events", events_of(journal)},
          {"weights", sha256_hex(run.weights())}};
}

struct Stops {
  int tries = 0, stops = 0;
  std::vector<std::string> faults;  // "stopped at ask 3 of 40: ..."
};

// Stops a run at each moment at which it asks, and lets it go on; each other time while a
// checkpoint beside training may be on its way.
Stops stop_at_each_ask(const trial::TrialConfig& config) {
  Stops seen;
  const auto data = data_of(config);
  Kept whole(config, data);
  int asks = 0;
  if (whole.run_until([&] { return ++asks < 0; }).finish.state != trial::TrialState::finished) {
    seen.faults.emplace_back("the undisturbed run did not finish");
    return seen;
  }
  const auto expected = outcome_of(whole);
  for (int ask = 1; ask <= asks && seen.faults.empty(); ++ask) {
    const auto check = [&](bool holds, const std::string& fault) {
      if (!holds) seen.faults.push_back(fmt::format("stopped at ask {} of {}: {}", ask, asks, fault));
    };
    Kept run(config, data);
    int asked = 0;
    const double interval = ++seen.tries % 2 == 0 ? 1e-9 : 0;
    const bool stopped = run.run_until([&] { return ++asked >= ask; }, interval).stopped;
    check(asked >= ask, "it asked at other moments than the undisturbed run");
    check(run.problem_.empty(), run.problem_);
    if (stopped) {
      ++seen.stops;
      const auto done = run.done_;
      run.run();
      // One step more than its state has was done for the sake of a hash.
      check(done == config.steps || run.from_ >= done - 1, "what was done is lost");
    }
    for (const auto& member : outcome_of(run)) {
      const auto& wanted = expected.at(member.key());
      check(member.value() == wanted, fmt::format("{} is {}, not {}", std::string(member.key()),
                                                  canonical_json(member.value()), canonical_json(wanted)));
    }
  }
  return seen;
}

TEST(Stop, AtEveryMomentIsWithoutConsequence) {
  auto configs = most_different();
  for (auto& config : every_state()) configs.push_back(std::move(config));
  for (const auto& given : configs) {
    const auto config = shortened(given);
    const auto seen = stop_at_each_ask(config);
    ASSERT_THAT(seen.faults, IsEmpty()) << canonical_json(config.to_json());
    EXPECT_GT(seen.tries, config.steps);
    EXPECT_GT(seen.stops, seen.tries / 2) << "hardly any of these moments was one";
  }
}

}  // namespace stop_test
}  // namespace hyfreedp::training
