#include "harness/runner/execute/coordinator.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/run_keys.h"
#include "harness/runner/execute/run_memory.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/release_record.h"
#include "harness/runner/odometer/restored_releases.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

constexpr std::chrono::milliseconds kPatience{100};

// Bytes; 0 where that cannot be told, as of a model that does not fit its data, which the worker
// refuses.
double memory_needed(const trial::TrialConfig& config) {
  const auto memory = memory_of(config);
  return memory ? memory->host : 0;
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
  // The record is written before anything is drawn.
  if (draw_key_ || has_seeded_noise(spec)) {
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
    // Runs that ended just before are recorded all the same; the journals keep the rest.
    if (auto wound_up = wind_up(); !wound_up && outcome) outcome = wound_up;
    for (auto& [index, runs] : cancelling_) runs.clear();
    if (auto concluded = conclude_cancelled(); !concluded && outcome) outcome = concluded;
  }
  progress_.clear();
  if (!outcome) return outcome.error();
  // Their runs may be those of rows that went on.
  if (auto priced = price_cancelled_again(store_, out_); !priced) return priced.error();
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
  if (auto made = make_closed_folder(out_.keys()); !made) return made.error();
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
  // The runs that were reserved before may be of other draws.
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
  std::map<std::string, trial::Composition> lost_made;
  if (has_seeded_noise(spec)) {
    auto lost = lost_selections(store_, out_);
    if (!lost) return lost.error();
    lost_made = std::move(*lost);
  }
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
    const auto is_lost = close_as_lost(index, lost_made);
    if (!is_lost) return is_lost.error();
    if (*is_lost) continue;
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

Result<bool> Coordinator::close_as_lost(std::size_t index,
                                        const std::map<std::string, trial::Composition>& lost) {
  auto outcome = studies_[index].outcome();
  const auto made = lost.find(outcome.composition.booking);
  if (made == lost.end()) return false;
  outcome.composition = made->second;
  outcome = as_lost(std::move(outcome));
  if (auto written = store_.put_study(outcome); !written) return written.error();
  tally_.cell_over();
  note_failure(index, outcome, false);
  return true;
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
  const auto begin = std::chrono::steady_clock::now();
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
      // journal until then, and no worker gets a run before the next poll.
      auto written = store_.write_together([&]() -> Result<void> {
        for (const auto& update : *updates) {
          if (auto taken = take(update); !taken) return taken;
        }
        return report_.halt ? Result<void>{} : advance_ready();
      });
      if (!written) return written;
    }
    if (auto concluded = conclude_cancelled(); !concluded) return concluded;
    // A row that ends is recorded at once, unless another was so just before.
    if (std::chrono::steady_clock::now() - begin > kRecordInterval) {
      if (auto recorded = record_now_and_then(); !recorded) return recorded;
    }
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
  job.before_start = [this, config = wanted.config](json::object& request) -> Result<void> {
    const auto attempts = book_.begin(config);
    if (!attempts) return attempts.error();
    if (*attempts > 0) request["attempts"] = *attempts;
    return {};
  };
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
  // Weights that could not be copied stay staged until they can be; those of runs that a selection
  // did not choose are deleted.
  if (!complete) return {};
  return discard_staged(out_, spec, report_.weights.waiting);
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
