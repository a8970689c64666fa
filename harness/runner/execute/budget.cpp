#include "harness/runner/execute/budget.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <utility>

#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/trial/config_text.h"
#include "results/store/states.h"
#include "results/table/cell_text.h"

namespace hyfreedp::runner {
namespace {

Result<double> private_epsilon(const Spending* spending, double delta) {
  if (spending == nullptr) return 0.0;
  const auto reading = read_odometer(*spending, delta);
  if (!reading) return reading.error();
  return reading->total.epsilon;
}

// Returns the events of each run that is charged beside the study's first runs if none of these can
// be reported.
std::vector<std::vector<accounting::Event>> rest_after(const PlannedStudy& study,
                                                       const std::vector<trial::TrialConfig>& first) {
  std::vector<baselines::FinishedTrial> lost;
  lost.reserve(first.size());
  for (const auto& config : first) {
    lost.push_back({.id = config.id(), .config = config, .failed = true, .failure_kind = "diverged"});
  }
  std::vector<std::vector<accounting::Event>> rest;
  if (const auto more = study.baseline->next(study.cell, lost); !more || !more->empty()) return rest;
  const auto end = study.baseline->conclude(study.cell, lost);
  if (!end) return rest;
  for (const auto& run : end->composition.not_begun) {
    if (!run.events.empty()) rest.push_back(run.events);
  }
  return rest;
}

// Takes out what was reserved for so many runs.
void begin_runs(std::size_t count, std::vector<std::vector<accounting::Event>>& reserved) {
  reserved.erase(reserved.begin(),
                 reserved.begin() + static_cast<std::ptrdiff_t>(std::min(count, reserved.size())));
}

std::string row_of(const PlannedStudy& study) {
  const auto& cell = study.cell;
  return fmt::format("{}\n{}\n{}", cell.panel, cell.row, cell.epsilon.value_or(0));
}

}  // namespace

bool is_reserved_as_selection(const baselines::Baseline& baseline) {
  return baseline.confidential_runs && baseline.selection != nullptr;
}

Result<Budget> Budget::open(const results::Store& store, const OutFolder& out, std::optional<Cap> cap) {
  auto now = odometer_of(store, out);
  if (!now) return now.error();
  auto then = odometer_of(store, out, {.to_be_continued = true});
  if (!then) return then.error();
  if (cap && !then->unreadable.empty()) {
    return error(
        "what was spent so far is not known, so no limit can be guaranteed: some journal, key file or "
        "release record is lost or cannot be read. `hyfreedp odometer --confidential` names it.");
  }
  return Budget(store, out, std::move(*now), std::move(*then), cap);
}

void Budget::add_rest(const PlannedStudy& study, const std::vector<trial::TrialConfig>& first,
                      const results::StudyRecord* recorded, Rests& rests) const {
  auto runs = rest_after(study, first);
  if (runs.empty()) return;
  const Rest reserved{.dataset = first.front().dataset, .runs = std::move(runs)};
  const auto [rest, is_new] = rests.emplace(study.id, reserved);
  if (!is_new || recorded == nullptr) return;
  std::set<std::string> over;  // further runs that an earlier run of the spec made
  for (const auto& id : recorded->trials) {
    if (then_.final_runs.contains(id)) over.insert(id);
  }
  for (const auto& config : first) over.erase(config.id());
  begin_runs(over.size(), rest->second.runs);
}

Result<void> Budget::add_seed(const PlannedStudy& study, const results::StudyRecord* recorded,
                              ComparedRows& rows) const {
  if (!study.sure_seeds || study.baseline->confidential_runs || study.baseline->single_round) return {};
  const auto [place, is_new] = rows.try_emplace(row_of(study));
  auto& row = place->second;
  row.dataset = study.cell.base.dataset;
  // The rows of a spec are recorded together.
  if (is_new && recorded != nullptr) {
    auto known = dearest_seed(*store_, *recorded);
    if (!known) return known.error();
    row.dearest.raise_to(*known);
  }
  if (recorded != nullptr && results::is_answered(*recorded)) return {};
  row.seeds[study.id] = {.is_sure = study.cell.seed < *study.sure_seeds,
                         .has_begun = recorded != nullptr && !recorded->trials.empty()};
  return {};
}

// The seed asks for the run.
void Budget::add_run(const PlannedStudy& study, const std::string& id, const trial::TrialConfig& config,
                     ComparedRows& rows) {
  const auto row = rows.find(row_of(study));
  if (row == rows.end()) return;
  const auto seed = row->second.seeds.find(study.id);
  if (seed == row->second.seeds.end()) return;
  auto& own = seed->second;
  if (own.runs.insert(id).second) own.planned.add(mechanism::events(config));
  if (own.is_sure || own.has_begun) row->second.dearest.raise_to(own.planned);
}

Odometer Budget::with_reserved(Odometer odometer, const Reserved& reserved) {
  for (const auto& [key, rest] : reserved.rests) {
    for (const auto& events : rest.runs) odometer.of(rest.dataset).add(events);
  }
  for (const auto& [key, row] : reserved.rows) {
    for (const auto& [study, seed] : row.seeds) {
      if (seed.is_sure) continue;
      auto own = seed.planned;
      if (const auto rest = reserved.rests.find(study); rest != reserved.rests.end()) {
        for (const auto& events : rest->second.runs) own.add(events);
      }
      odometer.of(row.dataset).add(row.dearest.beyond(own).events());
    }
  }
  return odometer;
}

Result<void> Budget::reserve(const std::vector<PlannedStudy>& studies) {
  auto wanted = then_;
  auto reserved = reserved_;
  auto admitted = admitted_;
  std::set<std::string> datasets;  // names of the data
  std::set<std::string> needed;    // those on which anything would start
  trial::ConfigText ids;
  // The dataset of the last run; the next run nearly always has the same.
  std::optional<trial::Named> dataset;
  Spending* of_dataset = nullptr;
  std::map<std::string, results::StudyRecord> known;
  if (auto all = store_->all_studies(); !all) {
    return all.error();
  } else {
    for (auto& study : *all) known.emplace(study.id, std::move(study));
  }
  for (const auto& study : studies) {
    const auto found = known.find(study.id);
    const auto* recorded = found != known.end() ? &found->second : nullptr;
    if (auto added = add_seed(study, recorded, reserved.rows); !added) return added;
    if (recorded != nullptr && results::is_answered(*recorded)) continue;
    if (is_reserved_as_selection(*study.baseline) && study.cell.epsilon) {
      const auto selection = study.baseline->selection(study.cell);
      if (!selection) continue;  // infeasible: nothing will run
      dataset.reset();
      auto& spending = wanted.of(study.cell.base.dataset);
      const auto& name = wanted.identity(study.cell.base.dataset).name;
      datasets.insert(name);
      needed.insert(name);
      if (study.cell.base.noise_seed) spending.reproducible_noise = true;
      if (recorded == nullptr || !recorded->composition.rule) spending.add_selection(*selection);
      continue;
    }
    const auto wishes = study.baseline->next(study.cell, {});
    if (!wishes || wishes->empty()) continue;  // the run will say so
    add_rest(study, *wishes, recorded, reserved.rests);
    for (const auto& config : *wishes) {
      const auto id = ids.id_of(config);
      add_run(study, id, config, reserved.rows);
      if (dataset != config.dataset) {
        dataset = config.dataset;
        of_dataset = &wanted.of(config.dataset);
        datasets.insert(wanted.identity(config.dataset).name);
      }
      auto& spending = *of_dataset;
      if (then_.final_runs.contains(id) || !admitted.insert(id).second) continue;
      needed.insert(wanted.identity(config.dataset).name);
      // A run that is booked because a comparison decides how many seeds there are is in then_
      // already.
      if (then_.booked_runs.contains(id)) continue;
      // The most that it will yet add: what an interrupted run has begun is counted as planned
      // already, and begun anew on another machine it executes its plan beside that.
      spending.plan(config);
    }
  }
  if (auto checked = check(wanted, reserved, needed); !checked) return checked;
  then_ = std::move(wanted);
  reserved_ = std::move(reserved);
  admitted_ = std::move(admitted);
  touched_.insert(datasets.begin(), datasets.end());
  return {};
}

Result<void> Budget::reserve_instead(const std::vector<PlannedStudy>& studies) {
  then_ = opened_;
  reserved_ = {};
  admitted_.clear();
  touched_.clear();
  return reserve(studies);
}

Result<void> Budget::drop_answered(std::map<std::string, ComparedRow::Seed>& seeds) const {
  for (auto seed = seeds.begin(); seed != seeds.end();) {
    const auto record = store_->study(seed->first);
    if (!record) return record.error();
    seed = *record && results::is_answered(**record) ? seeds.erase(seed) : std::next(seed);
  }
  return {};
}

Result<void> Budget::admit(const PlannedStudy& study, const std::vector<trial::TrialConfig>& wishes) {
  if (is_reserved_as_selection(*study.baseline)) return {};
  auto wanted = then_;
  auto reserved = reserved_;
  std::set<std::string> fresh;
  std::set<std::string> datasets;
  if (const auto row = reserved.rows.find(row_of(study)); row != reserved.rows.end()) {
    // Seeds of which the comparison decides may be charged as much, until they have an answer.
    row->second.seeds[study.id].has_begun = true;
    if (auto dropped = drop_answered(row->second.seeds); !dropped) return dropped;
    datasets.insert(wanted.identity(study.cell.base.dataset).name);
  }
  for (const auto& config : wishes) {
    const auto id = config.id();
    add_run(study, id, config, reserved.rows);
    if (then_.final_runs.contains(id) || admitted_.contains(id) || !fresh.insert(id).second) continue;
    wanted.of(config.dataset).plan(config);
    datasets.insert(wanted.identity(config.dataset).name);
  }
  if (const auto rest = reserved.rests.find(study.id); rest != reserved.rests.end())
    begin_runs(fresh.size(), rest->second.runs);
  if (auto checked = check(wanted, reserved, datasets); !checked) return checked;
  then_ = std::move(wanted);
  reserved_ = std::move(reserved);
  admitted_.insert(fresh.begin(), fresh.end());
  touched_.insert(datasets.begin(), datasets.end());
  return {};
}

Result<void> Budget::check(const Odometer& wanted, const Reserved& reserved,
                           const std::set<std::string>& datasets) const {
  if (!cap_) return {};
  const auto all = with_reserved(wanted, reserved);
  for (const auto& name : datasets) {
    const auto* after = all.find(name);
    const auto title = after->title();
    if (after->has_unknown_selection) {
      return error(
          fmt::format("what was spent on {} is not known, so no limit can be guaranteed: there are runs that "
                      "no row lists and that may belong to a private selection. `hyfreedp odometer {} "
                      "--confidential` composes them.",
                      title, *after->datasets.begin()));
    }
    if (after->is_unmatched() || after->was_tested_on) {
      return error(fmt::format(
          "what was spent on {} is at least what the odometer shows, so no limit can be guaranteed: test "
          "records of one run may be private ones of another (`hyfreedp odometer {}` says why). Use another "
          "--out DIR if the data are not the same people's, or no --cap.",
          title, *after->datasets.begin()));
    }
    if (const auto others = all.may_be(*after); !others.empty()) {
      return error(fmt::format(
          "what was spent on {} is at least what the odometer shows, so no limit can be guaranteed: whether "
          "it is the same data as {} is not known (`hyfreedp odometer {}` says why). Use another --out DIR "
          "if the data are not the same people's, or no --cap.",
          title, join({others.begin(), others.end()}, ", "), *after->datasets.begin()));
    }
    const double delta = cap_->delta.value_or(default_delta(*after));
    const auto within = is_within(*after, cap_->epsilon, delta);
    if (!within) return within.error();
    if (*within) continue;
    // Read anew: runs may have ended since, and the message must agree with `hyfreedp odometer`.
    const auto present = odometer_of(*store_, out_);
    if (!present) return present.error();
    const auto* before = present->find(name);
    const std::string limit = fmt::format("The limit on {} is ε {} (δ {})", title,
                                          short_number(cap_->epsilon), short_number(delta));
    if (after->is_infinite()) {
      const bool is_past = before != nullptr && before->is_infinite();
      return error(fmt::format(
          "{}, and {} {} there, for which no ε holds. Use {}.", limit,
          (is_past ? *before : *after).what_has_no_epsilon(), is_past ? "are already" : "would be",
          is_past ? "another --out DIR if the data are not the same people's, or no --cap"
                  : "a spec without these, which cannot run under a cap, or no --cap"));
    }
    const auto now = private_epsilon(before, delta);
    if (!now) return now.error();
    const auto then = private_epsilon(after, delta);
    if (!then) return then.error();
    return error(
        fmt::format("{}. So far ε {} was spent there; with what would start now, where interrupted runs "
                    "count as started again, it may reach ε {}. Raise --cap, or start less.",
                    limit, results::epsilon_text(*now), results::epsilon_text(*then)));
  }
  return {};
}

Result<std::vector<Forecast>> Budget::forecast(std::optional<double> delta) const {
  std::vector<Forecast> all;
  std::set<const Spending*> told;
  const auto then = with_reserved(then_, reserved_);
  for (const auto& name : touched_) {
    const auto* before = now_.find(name);
    const auto* after = then.find(name);
    if (!told.insert(after).second) continue;
    Forecast forecast{.dataset = after->title(), .delta = delta.value_or(default_delta(*after))};
    const auto now = private_epsilon(before, forecast.delta);
    if (!now) return now.error();
    const auto reserved = private_epsilon(after, forecast.delta);
    if (!reserved) return reserved.error();
    forecast.now = *now;
    forecast.then = *reserved;
    forecast.now_infinite = before != nullptr && before->is_infinite();
    forecast.then_infinite = after->is_infinite();
    all.push_back(std::move(forecast));
  }
  return all;
}

}  // namespace hyfreedp::runner
