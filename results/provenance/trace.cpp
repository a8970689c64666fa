#include "results/provenance/trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "harness/base/text.h"
#include "results/provenance/ledger.h"
#include "results/store/records.h"
#include "results/store/states.h"

namespace hyfreedp::results {
namespace {

void flatten(const json::object& object, const std::string& prefix,
             std::map<std::string, std::string>& members) {
  for (const auto& member : object) {
    const std::string name = prefix + std::string(member.key());
    const auto& value = member.value();
    if (value.is_object()) {
      flatten(value.get_object(), name + ".", members);
    } else if (value.is_string()) {
      members[name] = std::string(value.get_string());
    } else if (value.is_double()) {
      members[name] = short_number(value.get_double(), 6);
    } else {
      members[name] = canonical_json(value);
    }
  }
}

std::map<std::string, std::string> members_of(const json::object& object) {
  std::map<std::string, std::string> members;
  flatten(object, "", members);
  return members;
}

std::string composition_text(const StudyRecord& study, bool hidden) {
  using Rule = trial::Composition::Rule;
  const auto& composition = study.composition;
  if (!composition.rule) return hidden ? "not known yet" : "";
  switch (*composition.rule) {
    case Rule::none:
      return "nothing private was touched";
    case Rule::trial:
      return "the reported run alone";
    case Rule::sum:
      return fmt::format("{} runs in sequence{}{}", composition.trials.size(),
                         composition.parts.empty() ? "" : ", on disjoint parts of the data in parallel",
                         composition.not_begun.empty() ? "" : ", and the rest of the search as planned");
    case Rule::selection:
      break;
  }
  if (!composition.selection) return "private selection";
  return fmt::format("private selection, {} number of runs, {} on average",
                     name_of(composition.selection->distribution), short_number(composition.selection->mean));
}

bool is_charged(const std::string& label) { return label != "oracle" && label != "simulated"; }

class Tracer {
 public:
  Tracer(const Store& store, spec::Metric metric, bool confidential)
      : store_(store),
        measured_(metric_facts(metric == spec::Metric::seconds ? spec::Metric::accuracy : metric)),
        confidential_(confidential) {}

  Result<TracedSeed> seed(const SeedResult& result) {
    TracedSeed traced;
    traced.seed = result.seed;
    traced.study = result.study;
    traced.state = "not begun";
    if (result.study.empty()) return traced;
    auto study = store_.study(result.study);
    if (!study) return study.error();
    if (!*study) return error("study " + result.study + " of the table is not in the database.");
    traced.value = result.value;
    const auto unpriced = has_unpriced_runs(store_, **study);
    if (!unpriced) return unpriced.error();
    traced.is_unpriced = *unpriced;
    describe(**study, traced);
    if (auto read = read_runs(**study, traced); !read) return read.error();
    return traced;
  }

 private:
  void describe(const StudyRecord& study, TracedSeed& traced) const {
    const bool shows_all = confidential_ || study.composition.shows_run_count();
    traced.state = name_of(study.state);
    if (!study.failure_kind.empty()) traced.failure = study.failure_kind + ": " + study.failure_message;
    traced.composition =
        traced.is_unpriced ? "not known, for the row has no end yet" : composition_text(study, !shows_all);
    traced.delta = study.delta;
    traced.total = study.total;
    traced.training = study.training;
    if (study.total && study.training && is_charged(study.label)) {
      traced.tuning = std::max(0.0, study.total->epsilon - study.training->epsilon);
    }
    traced.claimed_epsilon = study.claimed_epsilon;
    traced.label = study.label;
    traced.flags = study.flags;
    traced.footnotes = study.footnotes;
    traced.runs_are_hidden = !shows_all;
    if (shows_all) traced.seconds = study.seconds;
  }

  Result<void> read_runs(const StudyRecord& study, TracedSeed& traced) {
    std::vector<std::string> ids;
    if (!study.reported_trial.empty()) ids.push_back(study.reported_trial);
    if (!traced.runs_are_hidden) {
      for (const auto& id : study.trials) {
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
      }
    }
    for (const auto& id : ids) {
      auto trial = store_.trial(id);
      if (!trial) return trial.error();
      if (!*trial) continue;  // asked for and not begun
      if (id == study.reported_trial) {
        traced.config = (**trial).config;
        traced.fingerprint = (**trial).fingerprint;
        traced.builds = builds_of(**trial);
        traced.notes = (**trial).notes;
      }
      auto run = read_run(**trial, traced);
      if (!run) return run.error();
      run->reported = id == study.reported_trial;
      traced.runs.push_back(std::move(*run));
    }
    return {};
  }

  Result<TracedRun> read_run(const TrialRecord& trial, TracedSeed& traced) {
    TracedRun run;
    run.id = trial.id;
    run.state = name_of(trial.state);
    if (!trial.failure_kind.empty()) {
      run.state += fmt::format(" ({}: {})", trial.failure_kind, trial.failure_message);
    }
    if (!traced.config.empty()) run.differences = differences(traced.config, trial.config);
    for (const auto& build : builds_of(trial)) {
      if (!traced.config.empty() && std::ranges::find(traced.builds, build) == traced.builds.end())
        run.differences.push_back("by " + build.text());
    }
    run.attempts = trial.attempts;
    run.seconds = trial.seconds;
    run.memory = memory_of(trial);
    run.events = trial.events.empty() ? "none" : describe_events(trial.events);
    auto metrics = store_.metrics(trial.id, confidential_);
    if (!metrics) return metrics.error();
    const bool is_first = traced.runs.empty();
    for (const auto& metric : *metrics) {  // in order of steps
      if (metric.split == "test" && metric.name == measured_.recorded && is_first) {
        traced.measured.emplace_back(metric.step, shown_value(measured_, metric.value));
      }
      if (metric.name != "accuracy") continue;
      if (metric.split == "test") run.accuracy = 100 * metric.value;
      if (metric.split == "private_validation") run.validation = 100 * metric.value;
    }
    return run;
  }

  const Store& store_;
  const MetricFacts& measured_;  // on test data
  bool confidential_;
};

std::vector<std::string> numbered_footnotes(const TableModel& table, const CellPlace& place) {
  std::vector<int> numbers = place.cell->notes;
  numbers.insert(numbers.end(), place.row->notes.begin(), place.row->notes.end());
  numbers.insert(numbers.end(), place.panel->notes.begin(), place.panel->notes.end());
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<std::string> footnotes;
  footnotes.reserve(numbers.size());
  for (const int number : numbers) {
    footnotes.push_back(
        fmt::format("[{}] {}", number, table.footnotes.at(static_cast<std::size_t>(number) - 1)));
  }
  return footnotes;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> flattened(const json::object& object) {
  const auto members = members_of(object);
  return {members.begin(), members.end()};
}

std::vector<std::string> differences(const json::object& base, const json::object& other) {
  const auto mine = members_of(base);
  const auto theirs = members_of(other);
  std::vector<std::string> texts;
  for (const auto& [name, value] : theirs) {
    const auto found = mine.find(name);
    if (found == mine.end() || found->second != value) texts.push_back(fmt::format("{} {}", name, value));
  }
  for (const auto& [name, value] : mine) {
    if (!theirs.contains(name)) texts.push_back("no " + name);
  }
  return texts;
}

Result<CellTrace> trace_cell(const Store& store, const std::string& spec, const CellRequest& request,
                             bool confidential) {
  const auto record = find_spec(store, spec);
  if (!record) return record.error();
  const auto table = table_of_rows(store, spec, confidential);
  if (!table) return table.error();
  const auto place = find_cell(*table, request);
  if (!place) return place.error();
  CellTrace trace;
  trace.spec = spec;
  trace.title = table->title;
  trace.hash = table->hash;
  trace.version = table->version;
  trace.panel = place->panel->id;
  trace.panel_title = place->panel->title;
  trace.settings = place->panel->settings;
  trace.row = place->row->id;
  trace.row_title = place->row->title;
  trace.method = place->row->method;
  trace.column = column_name(place->cell->epsilon_target);
  trace.metric = name_of(place->panel->table.metric);
  trace.unit = metric_facts(place->panel->table.metric).unit;
  trace.confidential = confidential;
  trace.other_panels = place->other_panels;
  trace.cell = *place->cell;
  trace.footnotes = numbered_footnotes(*table, *place);
  const auto notes = store.notes();
  if (!notes) return notes.error();
  Tracer tracer(store, place->panel->table.metric, confidential);
  for (const auto& result : place->cell->seeds) {
    auto seed = tracer.seed(result);
    if (!seed) return seed.error();
    if (const auto written = notes->find(seed->study); written != notes->end()) {
      seed->user_note = written->second.note;
      seed->tags = written->second.tags;
    }
    trace.seeds.push_back(std::move(*seed));
  }
  return trace;
}

}  // namespace hyfreedp::results
