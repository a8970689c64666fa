#include "harness/mechanism/executed.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/mechanism/releases.h"

namespace hyfreedp::mechanism {
namespace {

void add_step(std::int64_t step, std::vector<StepRun>& runs) {
  if (!runs.empty()) {
    auto& last = runs.back();
    if (last.count == 1 && step > last.first) last.every = step - last.first;
    if (step == last.first + last.every * last.count) {
      ++last.count;
      return;
    }
  }
  runs.push_back({.first = step});
}

// Steps of a run of `steps` steps, so that no number is too large to be computed with.
Result<StepRun> step_run_from(const json::value& value, const std::string& where, std::int64_t steps) {
  const auto* numbers = value.if_array();
  const bool is_run =
      numbers != nullptr && numbers->size() == 3 &&
      std::all_of(numbers->begin(), numbers->end(), [](const auto& x) { return x.is_int64(); });
  if (!is_run) return error(where + ": a run of steps is [first, every, count]");
  const StepRun run{numbers->at(0).get_int64(), numbers->at(1).get_int64(), numbers->at(2).get_int64()};
  const bool is_within = run.first >= 0 && run.first < steps && run.every >= 1 && run.count >= 1 &&
                         run.count - 1 <= (steps - 1 - run.first) / run.every;
  if (!is_within) return error(where + ": a run of steps lies within the run's " + std::to_string(steps));
  return run;
}

// True if every step of `run` has the release.
bool is_planned(const Release& release, const StepRun& run) {
  const auto& schedule = release.schedule;
  if (schedule.when == Schedule::When::before) return run.first == 0 && run.count == 1;
  return schedule.has(run.first) && (run.count == 1 || schedule.has(run.every));
}

Result<void> check_purpose(const std::string& purpose, const json::value& runs,
                           const trial::TrialConfig& config, const std::string& where) {
  const auto list = releases(config);
  const auto* release = find(list, purpose);
  if (!runs.is_array()) return error(where + ": 'released' has no list of '" + purpose + "'");
  std::int64_t last = -1;
  for (const auto& value : runs.get_array()) {
    const auto run = step_run_from(value, where, config.steps);
    if (!run) return run.error();
    const auto what = fmt::format("{}: '{}' was released ", where, purpose);
    if (run->first <= last) {
      return error(what + "twice at step " + std::to_string(run->first) + "; what the run cost is not known");
    }
    if (release == nullptr || !is_planned(*release, *run)) {
      return error(what + "at step " + std::to_string(run->first) +
                   ", where the plan of the run has no such release; what the run cost is not known");
    }
    last = run->last();
  }
  return {};
}

}  // namespace

void Executed::add(std::int64_t step, const std::set<std::string>& made) {
  for (const auto& purpose : made) add_step(step, runs_[purpose]);
}

json::object Executed::to_json() const {
  json::object object;
  for (const auto& [purpose, runs] : runs_) {
    json::array list;
    for (const auto& run : runs) list.push_back(json::array{run.first, run.every, run.count});
    object[purpose] = std::move(list);
  }
  return object;
}

Result<Executed> Executed::from_json(const json::value& released, const trial::TrialConfig& config,
                                     const std::string& where) {
  if (auto checked = check_executed(released, config, where); !checked) return checked.error();
  Executed executed;
  for (const auto& member : released.get_object()) {
    for (const auto& run : member.value().get_array()) {
      const auto& numbers = run.get_array();
      executed.runs_[std::string(member.key())].push_back(
          {numbers[0].get_int64(), numbers[1].get_int64(), numbers[2].get_int64()});
    }
  }
  return executed;
}

Result<void> check_executed(const json::value& released, const trial::TrialConfig& config,
                            const std::string& where) {
  if (!released.is_object()) return error(where + ": 'released' is not an object");
  for (const auto& member : released.get_object()) {
    const std::string purpose(member.key());
    if (auto checked = check_purpose(purpose, member.value(), config, where); !checked) return checked;
  }
  return {};
}

}  // namespace hyfreedp::mechanism
