#include "results/provenance/slice.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "results/table/cell_place.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {
namespace {

std::vector<trial::MetricRecord> of_the_last_step(const std::vector<trial::MetricRecord>& metrics) {
  std::int64_t last = -1;
  for (const auto& metric : metrics) last = std::max(last, metric.step);
  std::vector<trial::MetricRecord> kept;
  for (const auto& metric : metrics) {
    if (metric.step == last) kept.push_back(metric);
  }
  return kept;
}

enum class Steps { last, all };

// Returns the number of metrics.
Result<std::size_t> copy_trial(const Store& from, Store& to, const TrialRecord& trial, bool reported,
                               Steps kept) {
  auto metrics = from.metrics(trial.id);
  if (!metrics) return metrics.error();
  auto steps = from.steps(trial.id);
  if (!steps) return steps.error();
  if (!reported) *metrics = of_the_last_step(*metrics);
  if (!reported || kept == Steps::last) {
    if (steps->size() > 1) steps->erase(steps->begin(), steps->end() - 1);
    for (auto& step : *steps) step.scalars.clear();
  }
  auto copied = trial;
  copied.charged.clear();
  if (auto put = to.put_trial(copied, *steps, *metrics); !put) return put.error();
  return metrics->size();
}

Result<std::set<std::string>> reported_trials(const Store& store, const std::vector<std::string>& specs) {
  std::set<std::string> reported;
  for (const auto& spec : specs) {
    const auto studies = store.studies(spec);
    if (!studies) return studies.error();
    for (const auto& study : *studies) reported.insert(study.reported_trial);
  }
  return reported;
}

// Ids of trials. Those that specs share are copied once.
struct Trials {
  std::set<std::string> reported;
  std::set<std::string> copied = {};
};

Result<SliceCounts> copy(const Store& from, Store& to, const std::string& spec, Steps steps, Trials& trials) {
  const auto record = find_spec(from, spec);
  if (!record) return record.error();
  if (auto put = to.put_spec(*record); !put) return put.error();
  const auto studies = from.studies(spec);
  if (!studies) return studies.error();
  SliceCounts counts;
  for (const auto& study : *studies) {
    const auto kept = public_part(from, study);
    if (!kept) return kept.error();
    for (const auto& id : kept->trials) {
      if (!trials.copied.insert(id).second) continue;
      const auto trial = from.trial(id);
      if (!trial) return trial.error();
      if (!*trial) continue;  // asked for and never begun
      const auto metrics = copy_trial(from, to, **trial, trials.reported.contains(id), steps);
      if (!metrics) return metrics.error();
      counts.metrics += *metrics;
      ++counts.trials;
    }
    if (auto put = to.put_study(*kept); !put) return put.error();
    ++counts.studies;
  }
  return counts;
}

// A file by itself, as small as it can be.
Result<void> vacuum(const std::string& path) {
  try {
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA journal_mode = DELETE");
    database.exec("VACUUM");
    return {};
  } catch (const SQLite::Exception& failure) {
    return error(fmt::format("{}: SQLite failed ({})", path, failure.what()));
  }
}

// Checks that all specs in the slice hold public parts alone.
Result<void> check_public(const Store& slice) {
  const auto retired = slice.retired_studies();
  if (!retired) return retired.error();
  if (!retired->empty()) return error("the slice holds retired studies.");
  const auto studies = slice.all_studies();
  if (!studies) return studies.error();
  std::set<std::string> listed;
  for (const auto& study : *studies) {
    listed.insert(study.trials.begin(), study.trials.end());
    const bool hides = !study.composition.shows_run_count();
    if (hides &&
        (study.trials.size() > 1 || (!study.trials.empty() && study.trials[0] != study.reported_trial))) {
      return error(fmt::format("study {} of a private selection lists its losing runs.", study.id));
    }
  }
  const auto trials = slice.trials();
  if (!trials) return trials.error();
  for (const auto& trial : *trials) {
    if (!listed.contains(trial.id)) return error(fmt::format("trial {} belongs to no row.", trial.id));
    const auto metrics = slice.metrics(trial.id, true);
    if (!metrics) return metrics.error();
    for (const auto& metric : *metrics) {
      if (metric.visibility == trial::Visibility::confidential) {
        return error(fmt::format("trial {} has the confidential metric {} on {}.", trial.id, metric.name,
                                 metric.split));
      }
    }
  }
  return {};
}

}  // namespace

Result<StudyRecord> public_part(const Store& store, StudyRecord study) {
  if (study.composition.shows_run_count()) return study;
  study.trials.clear();
  study.seconds = 0;
  if (!study.reported_trial.empty()) {
    const auto reported = store.trial(study.reported_trial);
    if (!reported) return reported.error();
    study.trials = {study.reported_trial};
    if (*reported) study.seconds = (**reported).seconds;
  }
  study.composition.trials = study.trials;
  return study;
}

Result<SliceCounts> write_slice(const Store& store, const std::string& spec, const std::string& path) {
  if (std::filesystem::exists(path)) return error(path + " exists already.");
  Result<SliceCounts> counts = SliceCounts{};
  {
    auto slice = Store::open(path, Store::Mode::read_write);
    if (!slice) return slice.error();
    auto reported = reported_trials(store, {spec});
    if (!reported) return reported.error();
    Trials trials{.reported = std::move(*reported)};
    counts = copy(store, **slice, spec, Steps::last, trials);
    if (!counts) return counts;
    if (auto checked = check_slice(**slice, spec); !checked) return checked.error();
  }
  if (auto done = vacuum(path); !done) return done.error();
  return counts;
}

Result<SliceCounts> write_reference(const Store& store, const std::string& path) {
  if (std::filesystem::exists(path)) return error(path + " exists already.");
  const auto specs = store.specs();
  if (!specs) return specs.error();
  std::vector<std::string> names;
  for (const auto& spec : *specs) names.push_back(spec.name);
  auto reported = reported_trials(store, names);
  if (!reported) return reported.error();
  Trials trials{.reported = std::move(*reported)};
  SliceCounts all;
  {
    auto reference = Store::open(path, Store::Mode::read_write);
    if (!reference) return reference.error();
    for (const auto& name : names) {
      const auto counts = copy(store, **reference, name, Steps::all, trials);
      if (!counts) return counts.error();
      all.studies += counts->studies;
      all.trials += counts->trials;
      all.metrics += counts->metrics;
    }
    if (auto checked = check_public(**reference); !checked) return checked.error();
  }
  if (auto done = vacuum(path); !done) return done.error();
  return all;
}

Result<void> check_slice(const Store& slice, const std::string& spec) {
  const auto specs = slice.specs();
  if (!specs) return specs.error();
  if (specs->size() != 1 || specs->front().name != spec) {
    return error(fmt::format("the slice must hold the spec '{}' and no other.", spec));
  }
  return check_public(slice);
}

}  // namespace hyfreedp::results
