#include "harness/runner/execute/coordinator.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "datasets/facts.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/run_keys.h"
#include "harness/runner/execute/run_memory.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "results/store/states.h"
#include "results/table/table_notes.h"

namespace hyfreedp::runner {
namespace {

constexpr std::chrono::milliseconds kPatience{100};

// What the user must mend before anything of the kind can run.
bool is_halt(const std::string& failure_kind) {
  return failure_kind == "device-unavailable" || failure_kind == "missing-data";
}

// Bytes; 0 where that cannot be told, as of a model that does not fit its data, which the worker
// refuses.
double memory_needed(const trial::TrialConfig& config) {
  const auto memory = memory_of(config);
  return memory ? memory->host : 0;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

}  // namespace

bool RunReport::failed_unexpectedly() const {
  return std::any_of(failed.begin(), failed.end(), [](const auto& study) { return study.unexpected; });
}

Coordinator::Coordinator(results::Store& store, Executor& executor, const OutFolder& out, Progress& progress)
    : store_(store),
      executor_(executor),
      out_(out),
      progress_(progress),
      book_(store, out),
      tally_(executor.slots()) {}

Result<RunReport> Coordinator::run(const Spec& spec, const std::function<bool()>& stop_asked) {
  tally_.phase("planning");
  // Names of journals are those of runs, a private selection's among them.
  for (const auto& folder : {out_.journals(), out_.all_checkpoints()}) {
    if (auto made = make_closed_folder(folder); !made) return made.error();
  }
  if (auto opened = store_.write_together([&] { return open_studies(spec); }); !opened) {
    return opened.error();
  }
  // Before anything is drawn.
  if (draw_key_) {
    if (auto written = write_release_record(store_, out_, spec.content.name, false); !written) {
      return written.error();
    }
  }
  show();
  auto outcome = loop(stop_asked);
  if (!outcome || report_.stopped || report_.halt) {
    tally_.phase("stopping");
    show();
    executor_.stop();
    // What ended just before is recorded all the same; the journals keep the rest.
    if (auto wound_up = wind_up(); !wound_up && outcome) outcome = wound_up;
    for (auto& [index, runs] : cancelling_) runs.clear();
    if (auto concluded = conclude_cancelled(); !concluded && outcome) outcome = concluded;
  }
  progress_.clear();
  if (!outcome) return outcome.error();
  report_.held = gate_->held();
  for (auto& [index, failure] : failed_) report_.failed.push_back(std::move(failure));
  const bool complete = !report_.stopped && !report_.halt && !report_.refused &&
                        !report_.failed_unexpectedly() && report_.left_open == 0 && report_.held == 0;
  if (complete && !has_seeded_noise(spec)) {
    if (auto forgotten = forget_draws(store_, out_, spec); !forgotten) return forgotten.error();
  } else if (auto recorded = update_release_record(store_, out_, spec.content.name); !recorded) {
    return recorded.error();
  }
  if (complete) {
    if (auto deleted = delete_abandoned_keys(store_, out_, book_); !deleted) return deleted.error();
  }
  if (auto kept = conclude_weights(spec.content.name, complete); !kept) return kept.error();
  if (refused_) {
    // Asked again, now that nothing runs: the refusal tells what was spent in the end.
    const auto& study = studies_[refused_->study].study();
    if (auto admitted = budget_->admit(study, refused_->wishes); !admitted) {
      report_.refused = admitted.error().message;
    }
  }
  report_.taken_over = taken_over_.size();
  return std::move(report_);
}

Result<void> Coordinator::open_studies(const Spec& spec) {
  auto planned = plan_release(spec);
  if (!planned) return planned.error();
  const auto& name = spec.content.name;
  if (!has_seeded_noise(spec)) {
    std::set<std::string> ids;
    for (const auto& study : *planned) ids.insert(study.id);
    if (auto restored = restore_rows(store_, out_, name, ids); !restored) return restored.error();
  }
  const auto known = recorded_studies(name);
  if (!known) return known.error();
  const auto& recorded = *known;
  if (!has_seeded_noise(spec)) {
    auto key = hide_draws(out_, *planned, spec, recorded);
    if (!key) return key.error();
    draw_key_ = std::move(*key);
  }
  const auto asked = covered(*planned, only_);
  // What was reserved before is of other draws.
  if (budget_ && draw_key_) {
    if (auto reserved = budget_->reserve_instead(asked); !reserved) return reserved;
  }
  report_.studies = asked.size();
  report_.cells = count_cells(asked);
  tally_.cells(asked.size());
  auto pace = stored_pace(store_);
  if (!pace) return pace.error();
  tally_.earlier(std::move(*pace));
  gate_.emplace(store_, spec.content);
  for (auto& study : *planned) {
    const auto found = recorded.find(study.id);
    if (!only_.covers(study.cell)) {
      const auto* record = found != recorded.end() ? &found->second : nullptr;
      if (auto left = leave_out(std::move(study), name, record); !left) return left.error();
      continue;
    }
    const std::size_t index = studies_.size();
    studies_.emplace_back(std::move(study), name);
    if (found != recorded.end() && results::is_answered(found->second)) {
      ++report_.known_before;
      tally_.cell_over();
      note_failure(index, found->second, false);
      continue;
    }
    if (found != recorded.end()) studies_.back().goes_on_from(found->second);
    const auto& opened = studies_.back().study();
    if (opened.baseline->confidential_runs && !opened.cell.base.noise_seed) report_.hides_times = true;
    studies_.back().book_selection();
    // All seeds that a comparison may take are charged from the start, those that are trained first
    // among them.
    if (gate_->is_sequential(studies_.back().outcome())) studies_.back().book_seed();
    const bool is_held = gate_->hold(index, studies_.back().outcome());
    if (auto written = store_.put_study(studies_.back().outcome()); !written) return written.error();
    if (!is_held) ready_.push_back(index);
    // Under private selection the number of runs does not show: the study counts as one, also where
    // it drew none.
    if (opened.baseline->confidential_runs)
      tally_.known("study " + opened.id, work_of(opened.cell.base), false, expected_runs(opened));
  }
  if (report_.hides_times) {
    tally_.hide_times();
    report_.closed_folder = close_to_others(out_);
  }
  show();  // before any study is told of
  return open_gate();
}

// Open, so that the spec does not count as complete, and without a booking, which would charge it.
Result<void> Coordinator::leave_out(PlannedStudy study, const std::string& spec,
                                    const results::StudyRecord* recorded) {
  ++report_.left_out;
  if (recorded != nullptr && results::is_answered(*recorded)) return {};
  ++report_.left_open;
  if (recorded != nullptr) return {};
  return store_.put_study(StudyRun(std::move(study), spec).outcome());
}

Result<std::map<std::string, results::StudyRecord>> Coordinator::recorded_studies(
    const std::string& spec) const {
  auto earlier = store_.studies(spec);
  if (!earlier) return earlier.error();
  std::map<std::string, results::StudyRecord> recorded;
  for (auto& study : *earlier) recorded.emplace(study.id, std::move(study));
  return recorded;
}

Result<void> Coordinator::loop(const std::function<bool()>& stop_asked) {
  while (!ready_.empty() || !trials_.empty()) {
    if (stop_asked()) {
      report_.stopped = true;
      return {};
    }
    if (report_.halt) return {};
    if (auto heeded = heed_requests(); !heeded) return heeded;
    auto updates = executor_.poll(ready_.empty() ? kPatience : std::chrono::milliseconds(0));
    if (!updates) return updates.error();
    if (!updates->empty() || !ready_.empty()) {
      // One sync of the disk for all that ended meanwhile. A run that ended is known from its
      // journal until then, and no worker gets an unseeded run before the
      // next poll.
      auto written = store_.write_together([&]() -> Result<void> {
        for (const auto& update : *updates) {
          if (auto taken = take(update); !taken) return taken;
        }
        return report_.halt ? Result<void>{} : advance_ready();
      });
      if (!written) return written;
    }
    if (auto concluded = conclude_cancelled(); !concluded) return concluded;
    tally_.planning(!ready_.empty());
    show();
  }
  return {};
}

Result<void> Coordinator::advance_ready() {
  const auto until = std::chrono::steady_clock::now() + kPlanningTurn;
  while (!ready_.empty() && std::chrono::steady_clock::now() < until) {
    const auto index = ready_.front();
    ready_.pop_front();
    if (auto advanced = advance(index); !advanced) return advanced;
  }
  return {};
}

Result<void> Coordinator::advance(std::size_t index) {
  auto& run = studies_[index];
  if (begun_.insert(index).second) {
    for (auto* listener : listeners_) listener->study_begun(news_of(index, run.outcome()));
  }
  const auto wishes = run.advance();
  if (budget_ && !wishes.empty()) {
    if (auto admitted = budget_->admit(run.study(), wishes); !admitted) {
      // The study stays open; the others go on with what was admitted.
      if (!refused_) {
        refused_ = Refused{index, wishes};
        report_.refused = admitted.error().message;
      }
      return {};
    }
  }
  if (!wishes.empty()) {
    if (auto written = store_.put_study(run.outcome()); !written) return written.error();
  }
  for (const auto& config : wishes) {
    if (auto wanted = want(index, config); !wanted) return wanted.error();
  }
  if (run.is_over()) return finish(index);
  if (!run.is_waiting()) ready_.push_front(index);
  return {};
}

Result<void> Coordinator::want(std::size_t index, const trial::TrialConfig& config) {
  const std::string id = config.id();
  const auto& study = studies_[index].study();
  const auto work = work_of(config);
  const std::string unit = study.baseline->confidential_runs ? "study " + study.id : id;

  if (!lost_.contains(id) && !trials_.contains(id)) {
    auto earlier = book_.earlier(config);
    if (!earlier) return earlier.error();
    if (*earlier) {
      if (!study.baseline->confidential_runs) tally_.known(unit, work, true);
      if (!study.baseline->confidential_runs && !started_.contains(id) && !studies_[index].had_asked_for(id))
        taken_over_.insert(id);
      deliver(index, id, **earlier);
      return {};
    }
  }
  const auto lost = lost_.find(id);
  if (!study.baseline->confidential_runs) tally_.known(unit, work, lost != lost_.end());
  if (lost != lost_.end()) {
    deliver(index, id, lost->second);
    return {};
  }
  auto [entry, is_new] = trials_.try_emplace(id, Wanted{config, {}, unit, work.seconds});
  entry->second.studies.push_back(index);
  return is_new ? start_when_prepared(id) : Result<void>{};
}

Result<void> Coordinator::start_when_prepared(const std::string& trial) {
  for (const auto& dataset : trial::datasets_of(trials_.at(trial).config)) {
    auto job = prepare_job(dataset);
    if (prepared_.contains(job.id)) continue;
    auto [waiting, is_new] = held_back_.try_emplace(job.id);
    waiting->second.push_back(trial);
    if (!is_new) return {};
    tally_.phase(
        fmt::format("preparing {} (features are computed once, cached in {})", dataset.name, cache_folder()));
    show();
    job.memory = memory_needed(trials_.at(trial).config);
    executor_.submit(std::move(job));
    return {};
  }
  return start(trial);
}

Result<void> Coordinator::start(const std::string& trial) {
  const auto& wanted = trials_.at(trial);
  started_.insert(trial);
  tally_.phase("training");
  auto job = trial_job(wanted.config, {.journal = out_.journal(trial),
                                       .key = out_.key(trial),
                                       .checkpoints = out_.checkpoints(trial),
                                       .checkpoint_seconds = checkpoint_interval_.count(),
                                       .weights = wants_weights(wanted) ? keeper_->staged(trial) : ""});
  job.cost = wanted.cost;
  job.memory = memory_needed(wanted.config);
  job.time_limit = time_limit_;
  // Of a seeded run nothing is recorded before it ends, so its worker need not wait.
  if (!wanted.config.noise_seed) {
    job.before_start = [this, config = wanted.config](json::object& request) -> Result<void> {
      const auto attempts = book_.begin(config);
      if (!attempts) return attempts.error();
      if (*attempts > 0) request["attempts"] = *attempts;
      return {};
    };
  }
  executor_.submit(std::move(job));
  return {};
}

// Rows that share a run have one kind of label and one dataset, so whoever asks later is answered
// alike.
bool Coordinator::wants_weights(const Wanted& wanted) const {
  return keeper_ && std::ranges::any_of(wanted.studies, [&](std::size_t index) {
           return keeper_->wants(studies_[index].study());
         });
}

// An interrupted spec keeps what is staged for the run that completes it.
Result<void> Coordinator::conclude_weights(const std::string& spec, bool complete) {
  if (report_.stopped || report_.halt) return {};
  if (keeper_) {
    std::vector<PlannedStudy> planned;
    for (const auto& run : studies_) planned.push_back(run.study());
    auto published = keeper_->publish(store_, planned);
    if (!published) return published.error();
    report_.weights = std::move(*published);
  }
  // What could not be copied lies there until it can be; the runs that a selection did not choose
  // do not.
  if (!complete) return {};
  return discard_staged(out_, spec, report_.weights.waiting);
}

Result<void> Coordinator::take(const Update& update) {
  if (held_back_.contains(update.job)) {
    return update.kind == Update::Kind::over ? take_prepared(update) : Result<void>{};
  }
  const auto found = trials_.find(update.job);
  if (found == trials_.end()) return {};
  if (update.kind == Update::Kind::started) found->second.has_worker = true;
  if (update.kind == Update::Kind::progress) found->second.heard = Heard::maybe_more;
  // Of a study that was cancelled.
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
    // Without its data no trial of the dataset can run.
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
    // Its text names the trial.
    const bool is_hidden = wanted.unit != update.job;
    report_.checkpoint_problem = is_hidden ? "a file cannot be written" : update.checkpoint_problem;
  }
  // Of private selections only that they are under way may be told. Nobody waits for a run whose
  // studies were cancelled.
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

// Of a seeded run that was interrupted the database knows nothing yet.
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
  if (auto written = store_.put_study(record); !written) return written.error();
  tally_.over("study " + run.study().id);
  tally_.cell_over();
  for (auto* listener : listeners_) listener->study_over(news_of(index, record), store_);
  note_failure(index, record, run.failed_unexpectedly() || record.failure_kind == kInternal);
  gate_->over(index, record);
  if (auto recorded = record_now_and_then(); !recorded) return recorded;
  return open_gate();
}

// For whoever loses database and journals after this process was killed. The record is written
// whole, so that it takes a small part of the time.
Result<void> Coordinator::record_now_and_then() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kLeast{5};
  constexpr int kPart = 50;
  const auto begin = Clock::now();
  if (!draw_key_ || begin < next_record_) return {};
  if (auto recorded = update_release_record(store_, out_, studies_.front().outcome().spec); !recorded)
    return recorded;
  const auto end = Clock::now();
  next_record_ = end + std::max<Clock::duration>(kLeast, kPart * (end - begin));
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
    // Of whichever run of a private selection: that one was under way when the machine was lost is
    // so for any number of runs, and the price shows it anyway.
    if (record.epsilon_target && (**trial).attempts > 1) {
      add_once(record.flags, "interrupted: what the first attempt booked is charged");
    }
  }
  if (record.epsilon_target && run.cell().base.noise_seed)
    add_once(record.flags, results::kReproducibleNoise);
  // Of a seeded row the same noise is drawn again, and nobody prices that.
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
  // Whether a claim understates is for the executed events to say.
  if (record.claimed_epsilon && record.total && record.total->epsilon <= *record.claimed_epsilon) {
    std::erase(record.flags, baselines::kUnderstated);
  }
  return {};
}

void Coordinator::show() {
  const auto& board = tally_.board();
  progress_.show(board);
  for (auto* listener : listeners_) listener->board(board);
}

StudyNews Coordinator::news_of(std::size_t index, const results::StudyRecord& record) const {
  return {
      .place = index, .record = record, .is_selection = studies_[index].study().baseline->confidential_runs};
}

void Coordinator::halt(const std::string& kind, const std::string& message) {
  report_.halt = message;
  report_.halt_is_crash = kind == kKilled || kind == kHung;
}

Result<void> Coordinator::wind_up() {
  const auto updates = executor_.poll(std::chrono::milliseconds(0));
  if (!updates) return {};
  for (const auto& update : *updates) {
    if (auto taken = take(update); !taken) return taken.error();
  }
  return {};
}

std::string Coordinator::describe(std::size_t index) const {
  const auto& cell = studies_[index].cell();
  const std::string epsilon = cell.epsilon ? "ε " + short_number(*cell.epsilon) : "non-private";
  return fmt::format("{}, {}, {}, seed {}", cell.panel, cell.row, epsilon, cell.seed);
}

}  // namespace hyfreedp::runner
