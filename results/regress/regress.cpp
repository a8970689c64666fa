#include "results/regress/regress.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <tuple>

#include "harness/base/text.h"
#include "results/regress/regress_cell.h"
#include "results/regress/regress_settings.h"

namespace hyfreedp::results {
namespace {

constexpr double kWideSecondsRatio = 2;

using Key = std::tuple<std::string, std::string, std::optional<double>>;

Key key_of(const NightCell& cell) { return {cell.panel, cell.row, cell.epsilon}; }

std::string name_of(const NightCell& cell) {
  return RegressCell{cell.panel, cell.row, cell.title, cell.epsilon, {}}.name();
}

std::map<Key, const NightCell*> by_key(const Night& night) {
  std::map<Key, const NightCell*> cells;
  for (const auto& cell : night.cells) cells[key_of(cell)] = &cell;
  return cells;
}

RegressCell frame_of(const NightCell& cell) { return {cell.panel, cell.row, cell.title, cell.epsilon, {}}; }

bool has_seed(const NightCell& cell, std::int64_t seed) {
  return cell.seeds.empty() || cell.seeds.contains(seed);
}

// The cell with the seeds alone that the other night's spec has, too; the others go into `only`.
NightCell of_shared_seeds(const NightCell& cell, const NightCell& other, std::set<std::int64_t>& only) {
  auto shared = cell;
  std::erase_if(shared.runs, [&](const NightRun& run) {
    if (has_seed(other, run.seed)) return false;
    only.insert(run.seed);
    return true;
  });
  std::erase_if(shared.not_needed, [&](std::int64_t seed) { return !has_seed(other, seed); });
  return shared;
}

std::set<std::string> machines(const Night& night) {
  std::set<std::string> found;
  for (const auto& cell : night.cells) {
    for (const auto& run : cell.runs) {
      if (!run.machine.empty()) found.insert(run.machine);
    }
  }
  return found;
}

// Seconds were not taken side by side: another load on the machine would pass for a slower program,
// on all cells at once. So they never raise an alarm; twice as long is worth a measurement.
RegressFinding stored_seconds(const Night& tonight, const Night& reference) {
  const auto cells = by_key(reference);
  double now = 0, before = 0;
  for (const auto& cell : tonight.cells) {
    const auto other = cells.find(key_of(cell));
    if (other == cells.end()) continue;
    for (const auto& run : cell.runs) {
      const auto& runs = other->second->runs;
      const auto same = std::find_if(runs.begin(), runs.end(), [&](const NightRun& candidate) {
        return candidate.seed == run.seed && candidate.setting == run.setting;
      });
      if (same == runs.end() || run.state != NightRun::State::value) continue;
      now += run.seconds;
      before += same->seconds;
    }
  }
  RegressFinding finding{.what = "stored seconds", .test = "", .text = ""};
  if (!(before > 0) || !(now > 0)) {
    finding.text = "no run has a time in both nights";
    return finding;
  }
  const double ratio = now / before;
  finding.change = ratio;
  finding.text =
      fmt::format("{} in all runs, {} before: × {:.3g}", human_duration(now), human_duration(before), ratio);
  if (machines(tonight) != machines(reference)) {
    finding.text += "; another machine or build, so nothing follows from it";
  } else if (ratio > kWideSecondsRatio) {
    finding.verdict = RegressVerdict::unclear;
    finding.text += "; too much to pass over, but not taken side by side: measure with --speed";
  } else {
    finding.text += "; not taken side by side, so no test of speed (--speed is one)";
  }
  return finding;
}

RegressCell whole_night() {
  return {.panel = "", .row = "", .title = "whole night", .epsilon = {}, .findings = {}};
}

std::vector<RegressCell> timing_cells(const std::vector<AbTiming>& timings, const RegressOptions& options) {
  std::vector<RegressCell> cells;
  for (const auto& timing : timings) {
    auto cell = timing.panel.empty() ? whole_night()
                                     : RegressCell{timing.panel, timing.row, timing.row, timing.epsilon, {}};
    cell.findings.push_back(timing_finding(timing, options));
    cells.push_back(std::move(cell));
  }
  return cells;
}

void add_timings(std::vector<RegressCell>& cells, std::vector<RegressCell> timings) {
  for (auto& cell : timings) {
    const auto same = std::find_if(cells.begin(), cells.end(), [&](const RegressCell& candidate) {
      return std::tie(candidate.panel, candidate.row, candidate.epsilon) ==
             std::tie(cell.panel, cell.row, cell.epsilon);
    });
    if (same == cells.end()) {
      cells.push_back(std::move(cell));
    } else {
      for (auto& finding : cell.findings) same->findings.push_back(std::move(finding));
    }
  }
}

RegressFinding of_other_code(const std::string& parts) {
  return {.what = "row",
          .test = "",
          .verdict = RegressVerdict::unclear,
          .text = fmt::format("trained by other code than this program's ({}), so it says nothing of this "
                              "program: run the spec in an empty folder, or with --retrain all",
                              parts)};
}

// One family: every p-value of the night.
std::size_t adjust(std::vector<RegressCell>& cells, const RegressOptions& options) {
  std::vector<RegressFinding*> tested;
  std::vector<double> p;
  for (auto& cell : cells) {
    for (auto& finding : cell.findings) {
      if (!finding.p) continue;
      tested.push_back(&finding);
      p.push_back(*finding.p);
    }
  }
  const auto adjusted = options.control == FalseAlarmControl::holm ? holm_adjusted(p) : fdr_adjusted(p);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    tested[i]->adjusted = adjusted[i];
    judge(*tested[i], tested.size(), options);
  }
  return tested.size();
}

double smallest_p(const RegressFinding& finding) {
  return finding.adjusted.value_or(finding.verdict == RegressVerdict::regressed ? 0 : 1);
}

bool worse(const RegressFinding& a, const RegressFinding& b) {
  return std::tuple(a.verdict, smallest_p(a), a.p.value_or(1)) <
         std::tuple(b.verdict, smallest_p(b), b.p.value_or(1));
}

void sort_worst_first(std::vector<RegressCell>& cells) {
  for (auto& cell : cells) std::stable_sort(cell.findings.begin(), cell.findings.end(), worse);
  std::stable_sort(cells.begin(), cells.end(), [](const RegressCell& a, const RegressCell& b) {
    if (a.verdict() != b.verdict()) return a.verdict() < b.verdict();
    if (a.findings.empty() || b.findings.empty()) return a.findings.size() > b.findings.size();
    return worse(a.findings.front(), b.findings.front());
  });
}

std::vector<std::string> notes_of(const Night& tonight, const Night& reference,
                                  const RegressOptions& options) {
  std::vector<std::string> notes;
  if (tonight.hash != reference.hash) {
    const auto changes = spec_changes(reference.resolved, tonight.resolved);
    notes.push_back(fmt::format(
        "The spec is not the reference's: {}. Cells are matched by panel, row and epsilon.",
        changes.empty() ? "what it resolves to is the same, its hash is not" : join(changes, "; ")));
  }
  if (tonight.version != reference.version) {
    notes.push_back(
        fmt::format("Tonight's program is {}, the reference's was {}.", tonight.version, reference.version));
  }
  if (!options.hashes) notes.emplace_back("Bits were not compared (--no-hashes).");
  std::vector<std::string> fresh;
  const auto before = by_key(reference);
  for (const auto& cell : tonight.cells) {
    if (!before.contains(key_of(cell))) fresh.push_back(name_of(cell));
  }
  if (!fresh.empty()) notes.push_back("Not in the reference: " + join(fresh, "; ") + ".");
  return notes;
}

void add_seeds_note(const std::set<std::int64_t>& seeds, const char* whose, std::vector<std::string>& notes) {
  if (seeds.empty()) return;
  notes.push_back(fmt::format("Seeds that only {} has are not compared: {}.", whose, fmt::join(seeds, ", ")));
}

}  // namespace

std::string to_string(RegressVerdict verdict) {
  switch (verdict) {
    case RegressVerdict::regressed:
      return "regressed";
    case RegressVerdict::changed:
      return "changed";
    case RegressVerdict::unclear:
      return "could not tell";
    case RegressVerdict::improved:
      return "improved";
    case RegressVerdict::same:
      return "same";
    case RegressVerdict::skipped:
      return "skipped";
  }
  return "";
}

RegressVerdict RegressCell::verdict() const {
  auto worst = RegressVerdict::skipped;
  for (const auto& finding : findings) worst = std::min(worst, finding.verdict);
  return worst;
}

bool RegressCell::is_better() const {
  return verdict() != RegressVerdict::regressed && std::ranges::any_of(findings, [](const auto& finding) {
           return finding.verdict == RegressVerdict::improved &&
                  (finding.what == "accuracy" || finding.what == "loss");
         });
}

bool RegressCell::is_alarm() const {
  return verdict() == RegressVerdict::regressed || (verdict() == RegressVerdict::changed && !is_better());
}

std::string RegressCell::name() const {
  if (panel.empty()) return title;
  return fmt::format("{}, {}, {}", panel, row, epsilon ? "epsilon " + short_number(*epsilon) : "non-private");
}

RegressVerdict RegressReport::verdict() const {
  auto worst = RegressVerdict::skipped;
  for (const auto& cell : cells) worst = std::min(worst, cell.verdict());
  return worst;
}

bool RegressReport::is_quiet() const { return verdict() == RegressVerdict::same && !spec_changed; }

std::size_t RegressReport::count(RegressVerdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      cells.begin(), cells.end(), [&](const RegressCell& cell) { return cell.verdict() == verdict; }));
}

int RegressReport::exit_code() const {
  if (std::ranges::any_of(cells, &RegressCell::is_alarm)) return 1;
  const bool compared = verdict() != RegressVerdict::skipped;
  const bool clear = std::ranges::none_of(cells, [](const RegressCell& cell) {
    return std::ranges::any_of(cell.findings, [](const RegressFinding& finding) {
      return finding.verdict == RegressVerdict::unclear;
    });
  });
  return compared && clear ? 0 : 2;
}

RegressReport compare_nights(const Night& tonight, const Night& reference,
                             const std::vector<AbTiming>& timings, const RegressOptions& options) {
  RegressReport report;
  report.spec = tonight.spec;
  report.options = options;
  report.spec_changed = tonight.hash != reference.hash;
  report.notes = notes_of(tonight, reference, options);
  const auto now = by_key(tonight);
  std::set<std::int64_t> only_before, only_now;
  for (const auto& before : reference.cells) {
    auto cell = frame_of(before);
    const auto found = now.find(key_of(before));
    if (found != now.end() && !found->second->other_code.empty()) {
      cell.findings.push_back(of_other_code(found->second->other_code));
    } else if (found != now.end()) {
      cell.findings = compare_cells(
          of_shared_seeds(*found->second, before, only_now),
          of_shared_seeds(before, *found->second, only_before),
          !report.spec_changed || is_asked_alike(tonight.resolved, reference.resolved, before), options);
    } else {
      cell.findings.push_back({.what = "values",
                               .test = "",
                               .verdict = RegressVerdict::unclear,
                               .text = "the reference has it, tonight does not"});
    }
    report.cells.push_back(std::move(cell));
  }
  add_seeds_note(only_now, "tonight", report.notes);
  add_seeds_note(only_before, "the reference", report.notes);
  auto night = whole_night();
  if (timings.empty()) night.findings.push_back(stored_seconds(tonight, reference));
  if (!night.findings.empty()) report.cells.push_back(std::move(night));
  add_timings(report.cells, timing_cells(timings, options));
  report.tests = adjust(report.cells, options);
  sort_worst_first(report.cells);
  return report;
}

}  // namespace hyfreedp::results
