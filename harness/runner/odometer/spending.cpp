#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "baselines/baseline.h"
#include "harness/accounting/default_delta.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/odometer/odometer.h"

namespace hyfreedp::runner {

using accounting::Event;

namespace {

// Returns the events by split; in one part if a record may have been in several.
std::map<std::string, std::vector<Event>> parts_of(const Spending& spending) {
  std::map<std::string, std::vector<Event>> parts;
  for (const auto& [name, tally] : spending.splits) {
    auto& part = parts[spending.splits_differ ? kAllSplits : name];
    const auto events = tally.events();
    part.insert(part.end(), events.begin(), events.end());
  }
  return parts;
}

}  // namespace

std::int64_t oracle_scores_of(const trial::Evaluation& evaluation) {
  return (evaluation.oracle_validation ? 1 : 0) + (evaluation.oracle_train ? 1 : 0);
}

void Spending::add(const std::vector<Event>& events) {
  for (auto event : events) {
    const auto split = std::exchange(event.split, {});
    splits[split.empty() ? trial::kTrainSplit : split].add(event);
  }
}

void Spending::add_selection(const accounting::Selection& selection) {
  auto composable = selection;
  // Liu and Talwar's price composes with nothing; their number of runs is geometric, whose price
  // does.
  if (composable.distribution == accounting::Selection::Distribution::liu_talwar) {
    composable.distribution = accounting::Selection::Distribution::truncated_negative_binomial;
    composable.eta = 1;
  }
  add(trial::selection_by_split(composable));
  ++selections;
}

void Spending::plan(const trial::TrialConfig& config) {
  add(mechanism::events(config));
  ++runs;
  if (!config.privacy.is_private) ++non_private_runs;
  if (datasets::training_split_is_public(config.dataset.name, config.dataset.options)) ++public_runs;
  oracle_scores += oracle_scores_of(config.evaluation);
  if (config.noise_seed) reproducible_noise = true;
}

std::string Spending::what_has_no_epsilon() const {
  std::vector<std::string> parts;
  if (non_private_runs > 0) parts.push_back(counted(non_private_runs, "non-private run"));
  if (oracle_scores > 0) parts.push_back(counted(oracle_scores, "un-noised score") + " (oracle)");
  if (public_runs > 0 && !is_public) {
    parts.push_back(counted(public_runs, "run") + " of specs that declared the data public");
  }
  return join(parts, " and ");
}

std::string Spending::title() const { return join({data.names.begin(), data.names.end()}, " = "); }

void Spending::add(const Spending& other) {
  datasets.insert(other.datasets.begin(), other.datasets.end());
  data.add(other.data);
  is_public = is_public && other.is_public;
  splits_differ = splits_differ || other.splits_differ || is_unmatched() || records != other.records ||
                  validation_records != other.validation_records;
  records = std::max(records, other.records);
  validation_records = std::max(validation_records, other.validation_records);
  for (const auto& [split, tally] : other.splits) splits[split].add(tally.events());
  selections += other.selections;
  non_private_runs += other.non_private_runs;
  oracle_scores += other.oracle_scores;
  public_runs += other.public_runs;
  reproducible_noise = reproducible_noise || other.reproducible_noise;
  has_unknown_selection = has_unknown_selection || other.has_unknown_selection;
  was_tested_on = was_tested_on || other.was_tested_on;
  for (const auto& [spec, epsilon] : other.tables) tables[spec] = std::max(tables[spec], epsilon);
  runs += other.runs;
}

double default_delta(const Spending& spending) {
  return accounting::default_delta(std::max<std::int64_t>(spending.records, 2));
}

Result<bool> is_within(const Spending& spending, double epsilon, double delta) {
  if (spending.is_infinite()) return false;
  for (const auto& [name, events] : parts_of(spending)) {
    const auto rdp = accounting::epsilon_rdp({.events = events}, delta);
    if (rdp && rdp->epsilon <= epsilon) continue;
    const auto both = accounting::report_epsilon({.events = events}, delta);
    if (!both) return in_context(spending.title() + ", " + name, both.error());
    if (!(both->epsilon <= epsilon)) return false;
  }
  return true;
}

Result<OdometerReading> read_odometer(const Spending& spending, double delta,
                                      const std::optional<std::string>& split) {
  auto parts = parts_of(spending);
  if (split) {
    if (!parts.contains(*split)) {
      std::vector<std::string> names;
      names.reserve(parts.size());
      for (const auto& [name, events] : parts) names.push_back(name);
      return error(fmt::format("nothing was released about a split '{}' of {}.{}{}", *split, spending.title(),
                               did_you_mean(*split, names),
                               names.empty() ? "" : " It has: " + join(names, ", ") + "."));
    }
    parts = {{*split, parts.at(*split)}};
  }
  OdometerReading reading;
  reading.total.delta = delta;
  reading.total.accountant = "none";
  for (const auto& [name, events] : parts) {
    auto epsilon = accounting::report_epsilon({.events = events}, delta);
    if (!epsilon) return in_context(spending.title() + ", " + name, epsilon.error());
    if (reading.splits.empty() || epsilon->epsilon > reading.total.epsilon) reading.total = *epsilon;
    reading.splits.emplace(name, std::move(*epsilon));
  }
  return reading;
}

}  // namespace hyfreedp::runner
