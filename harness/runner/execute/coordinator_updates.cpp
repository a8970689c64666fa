// Takes what workers report, and ends the studies that are over with it.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

#include "datasets/facts.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/coordinator.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "results/store/states.h"
#include "results/table/table_notes.h"

namespace hyfreedp::runner {
namespace {

// True if the user must mend the cause before anything of the kind can run.
bool is_halt(const std::string& failure_kind) {
  return failure_kind == "device-unavailable" || failure_kind == "missing-data";
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

}  // namespace

Result<void> Coordinator::take(const Update& update) {
  if (held_back_.contains(update.job)) {
    return update.kind == Update::Kind::over ? take_prepared(update) : Result<void>{};
  }
  const auto found = trials_.find(update.job);
  if (found == trials_.end()) return {};
  if (update.kind == Update::Kind::started) found->second.has_worker = true;
  if (update.kind == Update::Kind::progress) found->second.heard = Heard::maybe_more;
  // All studies that wanted the run were cancelled.
  if (found->second.studies.empty() && update.kind != Update::Kind::over) return {};
  switch (update.kind) {
    case Update::Kind::started: {
      const auto index = found->second.studies.front();
      const auto& baseline = *studies_[index].study().baseline;
      const auto& config = found->second.config;
      if (baseline.confidential_runs) {
        tally_.selecting(found->second.unit, describe(index));
        return {};
      }
      tally_.started(update.slot,
                     {.trial = update.job,
                      .title = describe(index),
                      .delta = studies_[index].cell().delta,
                      .loss_is_released = datasets::training_values_are_released(
                          config.privacy.is_private, config.dataset.name, config.dataset.options),
                      .steps = config.steps},
                     found->second.unit);
      for (auto* listener : listeners_) listener->trial_begun(update.job, describe(index), config.steps);
      return {};
    }
    case Update::Kind::progress:
      tally_.stepped(update);
      return {};
    case Update::Kind::use:
      found->second.system.add(update);
      return {};
    case Update::Kind::over:
      return take_end(update);
  }
  return {};
}

Result<void> Coordinator::take_prepared(const Update& update) {
  auto held = held_back_.extract(update.job);
  if (update.failed) {
    // No trial of the dataset can run without its data.
    if (!report_.halt && update.failure_kind != kCancelled) halt(update.failure_kind, update.message);
    return {};
  }
  prepared_.insert(update.job);
  for (const auto& trial : held.mapped()) {
    if (!trials_.contains(trial)) continue;  // of a study that was cancelled
    if (auto started = start_when_prepared(trial); !started) return started;
  }
  return {};
}

Result<void> Coordinator::take_end(const Update& update) {
  auto wanted = std::move(trials_.extract(update.job).mapped());
  for (auto& [index, runs] : cancelling_) runs.erase(update.job);
  const bool was_cancelled = update.failed && update.failure_kind == kCancelled;
  const bool had_worker = std::exchange(wanted.has_worker, false);
  const auto heard = std::exchange(wanted.heard, Heard::nothing);
  if (had_worker) tally_.ended(update.slot, !update.failed, update.seconds);
  if (!update.checkpoint_problem.empty()) {
    // The problem's text names the trial.
    const bool is_hidden = wanted.unit != update.job;
    report_.checkpoint_problem = is_hidden ? "a file cannot be written" : update.checkpoint_problem;
  }
  // Listeners learn of a private selection only that it is under way, and nothing of a run whose
  // studies were all cancelled.
  if (had_worker && wanted.unit == update.job && !wanted.studies.empty()) {
    for (auto* listener : listeners_) listener->trial_over(update, describe(wanted.studies.front()));
  }
  if (keeper_ && !update.weights_problem.empty()) keeper_->note_problem(update.job, update.weights_problem);
  wanted.system.end(update);
  if (was_cancelled) {
    // its journal goes on in the next run
    if (auto noted = book_.interrupt(wanted.config, heard); !noted) return noted;
    if (auto kept = keep_system(update.job, wanted.system); !kept) return kept;
    const bool was_asked = std::exchange(wanted.is_stopping, false);
    if (!was_asked || wanted.studies.empty() || report_.stopped || report_.halt) return {};
    // Meanwhile another study wanted it.
    wanted.system = {};
    trials_.emplace(update.job, std::move(wanted));
    return start(update.job);
  }
  auto end = book_.record(wanted.config, update, heard);
  if (!end) return end.error();
  if (auto kept = keep_system(update.job, wanted.system); !kept) return kept;
  if (end->trial.failed && is_halt(end->trial.failure_kind)) {
    halt(end->trial.failure_kind, end->message);
  }
  if (wanted.unit == update.job) tally_.over(wanted.unit);
  for (const auto index : wanted.studies) {
    deliver(index, update.job, *end);
    if (!studies_[index].is_waiting()) ready_.push_front(index);
  }
  if (end->lost) lost_.emplace(update.job, std::move(*end));
  return {};
}

// Samples of a run that the database does not have, for want of a whole journal, are not kept.
Result<void> Coordinator::keep_system(const std::string& trial, const SystemLog& log) {
  const auto samples = log.samples();
  if (samples.empty()) return {};
  const auto known = store_.trial(trial);
  if (!known) return known.error();
  return *known ? store_.put_system(trial, samples) : Result<void>{};
}

void Coordinator::deliver(std::size_t index, const std::string& trial, const TrialEnd& end) {
  auto& run = studies_[index];
  if (end.lost) {
    run.receive_lost(trial, end.trial.failure_kind, end.message);
  } else {
    run.receive(end.trial);
  }
}

Result<void> Coordinator::finish(std::size_t index) {
  const auto& run = studies_[index];
  auto record = run.outcome();
  if (auto priced = price(run, record); !priced) {
    record.state = results::StudyState::failed;
    record.failure_kind = kInternal;
    record.failure_message = priced.error().message;
  }
  if (auto named = name_attempts(store_, record); !named) return named;
  if (auto written = store_.put_study(record); !written) return written.error();
  tally_.over("study " + run.study().id);
  tally_.cell_over();
  for (auto* listener : listeners_) listener->study_over(news_of(index, record), store_);
  note_failure(index, record, run.failed_unexpectedly() || record.failure_kind == kInternal);
  gate_->over(index, record);
  if (auto recorded = record_now_and_then(); !recorded) return recorded;
  return open_gate();
}

// Updates the release record, for whoever loses database and journals after this process was
// killed. The record is written whole, so that it takes a small part of the time.
Result<void> Coordinator::record_now_and_then() {
  using Clock = std::chrono::steady_clock;
  constexpr int kPart = 50;
  const auto begin = Clock::now();
  if (begin < next_record_) return {};
  if (auto recorded = update_release_record(store_, out_, studies_.front().outcome().spec); !recorded)
    return recorded;
  const auto end = Clock::now();
  next_record_ = end + std::max<Clock::duration>(kRecordInterval, kPart * (end - begin));
  return {};
}

// Lets the studies of further seeds begin, or end where they are not needed.
Result<void> Coordinator::open_gate() {
  const auto next = gate_->next();
  if (!next) return next.error();
  ready_.insert(ready_.end(), next->start.begin(), next->start.end());
  for (const auto index : next->not_needed) {
    if (auto ended = end_not_needed(index); !ended) return ended;
  }
  return {};
}

// A method that searches asks for its runs in several rounds, which are not known of a seed that
// has not begun: the row's most expensive other seed stands for it.
Result<void> Coordinator::end_not_needed(std::size_t index) {
  auto& run = studies_[index];
  trial::EventTally dearest;
  if (!run.study().baseline->confidential_runs) {
    auto found = dearest_seed(store_, run.outcome());
    if (!found) return found.error();
    dearest = std::move(*found);
  }
  run.end_without_runs(dearest.events());
  if (auto written = store_.put_study(run.outcome()); !written) return written.error();
  tally_.over("study " + run.study().id);
  tally_.cell_over();
  for (auto* listener : listeners_) listener->study_over(news_of(index, run.outcome()), store_);
  return {};
}

void Coordinator::note_failure(std::size_t index, const results::StudyRecord& record, bool unexpected) {
  if (record.state != results::StudyState::failed || results::is_not_needed(record)) return;
  failed_[index] = {describe(index), record.failure_kind, record.failure_message, unexpected};
}

Result<void> Coordinator::price(const StudyRun& run, results::StudyRecord& record) {
  for (const auto& id : record.trials) {
    const auto trial = store_.trial(id);
    if (!trial) return trial.error();
    if (!*trial) continue;
    record.seconds += (**trial).seconds;
    // This holds for any run of a private selection: whatever the number of runs, one was under way
    // when the machine was lost, and the price shows it anyway.
    if (record.epsilon_target && (**trial).attempts > 1) {
      add_once(record.flags, "interrupted: what the first attempt booked is charged");
    }
  }
  if (record.epsilon_target && run.cell().base.noise_seed)
    add_once(record.flags, results::kReproducibleNoise);
  // A seeded row draws the same noise again, which is not priced.
  const auto release = run.cell().base.repetition / kRepetitionsPerRelease;
  if (release > 0 && !run.cell().base.noise_seed) {
    add_once(
        record.footnotes,
        fmt::format("Release {} of this folder. What earlier releases of the same data cost is not composed "
                    "into these rows.",
                    release + 1));
  }
  if (run.failed_unexpectedly()) return {};  // no conclusion, so nothing to compose yet
  auto priced = pricer_.price(record, run.composition(),
                              [&](const std::string& id) -> Result<std::vector<accounting::Event>> {
                                auto trial = book_.stored(id);
                                if (!trial) return trial.error();
                                return std::move(trial->events);
                              });
  if (!priced) return priced;
  if (record.total && !run.cell().noise_multiplier) record.total->noise_accountant = run.cell().accountant;
  // The executed events decide whether a claim understates.
  if (record.claimed_epsilon && record.total && record.total->epsilon <= *record.claimed_epsilon) {
    std::erase(record.flags, baselines::kUnderstated);
  }
  return {};
}

}  // namespace hyfreedp::runner
