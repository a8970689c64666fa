// A pure response surface that stands in for training, and a study loop that stands in for the
// runner.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "baselines/baseline.h"

namespace hyfreedp::baselines::fake {

using Configs = std::vector<trial::TrialConfig>;
using World = std::function<FinishedTrial(const trial::TrialConfig&)>;

// The setting of the tests: N 2000, q .1, T 12, AdamW; `options` over the method's defaults.
Cell cell_of(const Baseline& baseline, std::optional<double> epsilon, const json::object& options = {});

// Accuracy falls with the distance of ln(eta T) from its best and with the noise; a rate above 10
// diverges. Scores are offered exactly as the config asks for them.
FinishedTrial ordinary_world(const trial::TrialConfig& config);
// Every run fails.
FinishedTrial broken_world(const trial::TrialConfig& config);

// In which order wanted trials finish, one at a time: a function of how many are wanted.
using Order = std::function<std::size_t(std::size_t wanted)>;
std::size_t first(std::size_t wanted);
std::size_t last(std::size_t wanted);

struct Study {
  std::vector<FinishedTrial> finished;
  Conclusion conclusion;
};
// Runs next() until it wants nothing; checks on the way that answers do not depend on the order of
// the finished set, that nothing finished or twice is asked for, and that it ends.
Study run_study(const Baseline& baseline, const Cell& cell, const World& world, const Order& order = first);

// What a run of `config` would book, the score included.
std::vector<accounting::Event> intended_events(const trial::TrialConfig& config);
// The composition over the intended events of the study's trials.
Result<accounting::Events> cost(const Study& study);

}  // namespace hyfreedp::baselines::fake
