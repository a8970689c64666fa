#include "harness/cli/show/list_runs.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/base/text.h"
#include "harness/cli/common/spec_request.h"
#include "harness/mechanism/journal.h"
#include "harness/runner/odometer/out_folder.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/table/cell_metric.h"
#include "results/table/cell_text.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

constexpr std::size_t kShortId = 8;  // characters of a run's id that are shown

struct ListedRun {
  results::StudyRecord study;
  std::string state;  // of the study: "open", "failed: diverged", ...
  std::optional<results::TrialRecord> run;
  std::string run_id;
  std::int64_t steps_done = 0;
  std::int64_t steps = 0;
  std::optional<double> accuracy;  // on test data, percent
  results::StudyNote written;
};

std::string state_of(const results::StudyRecord& study) {
  if (results::is_not_needed(study)) return results::kNotNeeded;
  if (study.state == results::StudyState::failed) return "failed: " + study.failure_kind;
  return name_of(study.state);
}

bool has_state(const results::StudyRecord& study, const std::string& asked) {
  if (asked.empty()) return true;
  if (results::is_not_needed(study)) return asked == results::kNotNeeded;
  if (asked == name_of(study.state)) return true;
  return study.state == results::StudyState::failed && asked == study.failure_kind;
}

Result<void> check_state(const std::vector<results::StudyRecord>& studies, const std::string& asked) {
  using enum results::StudyState;
  std::set<std::string> states{name_of(open), name_of(concluded), name_of(failed), results::kNotNeeded};
  for (const auto& study : studies) {
    if (study.state == failed) states.insert(study.failure_kind);
  }
  if (asked.empty() || states.contains(asked)) return {};
  return error(fmt::format("--state is none of those of the studies here, '{}'. They are: {}.", asked,
                           join({states.begin(), states.end()}, ", ")));
}

// Returns the runs of the study; of a private selection the reported run alone, and none while it
// is open.
std::vector<std::string> public_runs(const results::StudyRecord& study) {
  if (study.state == results::StudyState::open || study.composition.shows_run_count()) return study.trials;
  return study.reported_trial.empty() ? std::vector<std::string>{} : std::vector{study.reported_trial};
}

class Lister {
 public:
  Lister(const results::Store& store, runner::OutFolder out) : store_(store), out_(std::move(out)) {}

  Result<void> add(const results::StudyRecord& study, const results::StudyNote& written) {
    const ListedRun of_study{.study = study, .state = state_of(study), .written = written};
    const auto ids = public_runs(study);
    for (const auto& id : ids) {
      auto listed = of_study;
      listed.run_id = id;
      if (auto filled = fill(listed); !filled) return filled;
      listed_.push_back(std::move(listed));
    }
    if (ids.empty()) listed_.push_back(of_study);
    return {};
  }
  std::vector<ListedRun> take() { return std::move(listed_); }

 private:
  Result<void> fill(ListedRun& listed) {
    auto run = store_.trial(listed.run_id);
    if (!run) return run.error();
    listed.run = std::move(*run);
    const bool finished = listed.run && listed.run->state == trial::TrialState::finished;
    if (listed.run) listed.steps = int_or(listed.run->config, "steps", 0);
    if (finished) {
      listed.steps_done = listed.steps;
      const auto last = store_.last_metrics(listed.run_id, "test", "accuracy", 1);
      if (!last) return last.error();
      listed.accuracy = results::last_accuracy(*last, "test");
      return {};
    }
    // Only its journal says how far it got.
    if (const auto journal = mechanism::read_journal(out_.journal(listed.run_id));
        journal && journal->trial == listed.run_id) {
      listed.steps = journal->config.steps;
      listed.steps_done = journal->steps.empty() ? 0 : journal->steps.back().step + 1;
    }
    return {};
  }

  const results::Store& store_;
  runner::OutFolder out_;
  std::vector<ListedRun> listed_;
};

json::object to_json(const ListedRun& listed) {
  const auto& study = listed.study;
  json::object object{{"spec", study.spec},
                      {"panel", study.panel},
                      {"row", study.row},
                      {"method", study.method},
                      {"epsilon_target", as_json(study.epsilon_target)},
                      {"seed", study.seed},
                      {"study", study.id},
                      {"state", name_of(study.state)},
                      {"failure_kind", study.failure_kind},
                      {"run", nullptr},
                      {"reported", false},
                      {"run_state", nullptr},
                      {"steps_done", nullptr},
                      {"steps", nullptr},
                      {"seconds", nullptr},
                      {"test_accuracy_percent", as_json(listed.accuracy)},
                      {"note", listed.written.note},
                      {"tags", as_json(listed.written.tags)}};
  if (listed.run_id.empty()) return object;
  object["run"] = listed.run_id;
  object["reported"] = listed.run_id == study.reported_trial;
  object["steps_done"] = listed.steps_done;
  object["steps"] = listed.steps;
  if (listed.run) {
    object["run_state"] = name_of(listed.run->state);
    object["seconds"] = number(listed.run->seconds);
  }
  return object;
}

using Line = std::array<std::string, 11>;

Line line_of(const ListedRun& listed) {
  const auto& study = listed.study;
  Line line{study.spec,
            study.panel,
            study.row,
            study.epsilon_target ? short_number(*study.epsilon_target) : "inf",
            std::to_string(study.seed),
            listed.state,
            "-",
            "-",
            "-",
            listed.accuracy ? fmt::format("{:.1f}", *listed.accuracy) : "-",
            join(listed.written.tags, " ")};
  if (!listed.run_id.empty()) {
    line[6] = listed.run_id.substr(0, kShortId) + (listed.run_id == study.reported_trial ? "*" : "");
    if (listed.steps > 0) line[7] = fmt::format("{}/{}", listed.steps_done, listed.steps);
    if (listed.run && listed.run->seconds > 0) line[8] = fmt::format("{:.1f}", listed.run->seconds);
  }
  return line;
}

void print(const std::vector<ListedRun>& runs, std::ostream& out) {
  std::vector<Line> lines{
      {"spec", "panel", "row", "ε", "seed", "state", "run", "steps", "seconds", "accuracy %", "tags"}};
  for (const auto& listed : runs) lines.push_back(line_of(listed));
  std::array<std::size_t, std::tuple_size_v<Line>> widths{};
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths.at(i) = std::max(widths.at(i), results::display_width(line.at(i)));
  }
  bool has_notes = false;
  for (std::size_t number = 0; number < lines.size(); ++number) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const auto& field = lines[number].at(i);
      text += field + std::string(widths.at(i) - results::display_width(field) + 2, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
    has_notes = has_notes || (number > 0 && !runs[number - 1].written.note.empty());
  }
  out << "* reported\n";
  if (!has_notes) return;
  out << "Notes:\n";
  std::string before;
  for (const auto& listed : runs) {
    if (listed.written.note.empty() || listed.study.id == before) continue;
    before = listed.study.id;
    const auto line = line_of(listed);
    out << fmt::format("  {}, {}, {}, ε {}, seed {}: {}\n", line[0], line[1], line[2], line[3], line[4],
                       listed.written.note);
  }
}

Result<std::vector<ListedRun>> listed_runs(const results::Store& store, const RunsRequest& request) {
  std::vector<results::StudyRecord> studies;
  if (request.choice.spec.empty()) {
    if (!request.choice.only.empty()) return error("--only chooses of one spec: hyfreedp list runs SPEC.");
    auto all = store.all_studies();
    if (!all) return all.error();
    studies = std::move(*all);
  } else {
    auto chosen = chosen_studies(store, request.choice);
    if (!chosen) return chosen.error();
    studies = std::move(chosen->studies);
  }
  if (auto known = check_state(studies, request.state); !known) return known.error();
  auto notes = store.notes();
  if (!notes) return notes.error();
  Lister lister(store, {request.choice.out});
  for (const auto& study : studies) {
    const auto& written = (*notes)[study.id];
    if (!has_state(study, request.state)) continue;
    if (!request.tag.empty() && std::ranges::count(written.tags, request.tag) == 0) continue;
    if (auto added = lister.add(study, written); !added) return added.error();
  }
  return lister.take();
}

}  // namespace

Outcome list_runs(const RunsRequest& request, std::ostream& out) {
  if (request.format != "text" && request.format != "jsonl") {
    return error("--format is text or jsonl, not '" + request.format + "'.");
  }
  const auto store = open_for_reading(request.choice.out);
  if (!store) return store.error();
  const auto runs = listed_runs(**store, request);
  if (!runs) return runs.error();
  if (request.format == "jsonl") {
    for (const auto& listed : *runs) out << canonical_json(to_json(listed)) << '\n';
  } else if (runs->empty()) {
    out << "no study\n";
  } else {
    print(*runs, out);
  }
  return 0;
}

}  // namespace hyfreedp::cli
