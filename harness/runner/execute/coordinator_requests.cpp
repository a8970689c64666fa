// Carries out what `cancel`, `note` and `tag` ask of a coordinator at work (study_request.h).
#include <algorithm>

#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/coordinator.h"
#include "harness/runner/odometer/release_record.h"
#include "results/store/states.h"

namespace hyfreedp::runner {

// The folder of requests exists only after somebody has asked something.
Result<void> Coordinator::heed_requests() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return {};
  next_look_ = now + request_interval_;
  for (auto& taken : take_requests(out_)) {
    if (std::ranges::any_of(heeded_, [&](const auto& one) { return one.path == taken.path; })) continue;
    auto request = taken.request;
    const bool cancels = request.kind == StudyRequest::Kind::cancel;
    if (cancels) {
      for (const auto& study : request.studies) {
        if (auto cancelled = cancel(study); !cancelled) return cancelled;
      }
      std::erase_if(request.studies, [&](const std::string& study) {
        return std::ranges::any_of(studies_, [&](const StudyRun& run) { return run.study().id == study; });
      });
    }
    // Whoever asked sees what came of it; that it failed is no reason to end the run.
    static_cast<void>(carry_out(store_, out_, request));
    if (cancels) {
      heeded_.push_back(std::move(taken));
    } else {
      remove_request(taken);
    }
  }
  return conclude_cancelled();
}

// A study of this run, where it has no answer.
Result<void> Coordinator::cancel(const std::string& study) {
  const auto found =
      std::ranges::find_if(studies_, [&](const StudyRun& run) { return run.study().id == study; });
  if (found == studies_.end() || found->is_over()) return {};
  const auto known = store_.study(study);
  if (!known) return known.error();
  if (*known && results::is_answered(**known)) return {};
  const auto index = static_cast<std::size_t>(found - studies_.begin());
  std::erase(ready_, index);
  gate_->drop(index);
  found->cancel();
  if (refused_ && refused_->study == index) {
    refused_.reset();
    report_.refused.reset();
  }
  cancelling_.try_emplace(index);
  stop_runs_of(index);
  return {};
}

void Coordinator::stop_runs_of(std::size_t index) {
  for (auto entry = trials_.begin(); entry != trials_.end();) {
    const auto& id = entry->first;
    auto& wanted = entry->second;
    if (std::erase(wanted.studies, index) == 0 || !wanted.studies.empty()) {
      ++entry;
      continue;
    }
    tally_.over(wanted.unit);
    std::size_t held_back = 0;
    for (auto& [job, trials] : held_back_) held_back += std::erase(trials, id);
    if (held_back > 0) {
      entry = trials_.erase(entry);
      continue;
    }
    executor_.cancel(id);
    wanted.is_stopping = true;
    cancelling_[index].insert(id);
    ++entry;
  }
}

// Concludes the cancelled studies whose runs have all stopped.
Result<void> Coordinator::conclude_cancelled() {
  bool any = false;
  for (auto entry = cancelling_.begin(); entry != cancelling_.end();) {
    if (!entry->second.empty()) {
      ++entry;
      continue;
    }
    const auto index = entry->first;
    entry = cancelling_.erase(entry);
    const auto record = as_cancelled(store_, out_, studies_[index].outcome());
    if (!record) {
      // It stays open, and the others go on.
      auto failed = studies_[index].outcome();
      failed.failure_kind = kInternal;
      failed.failure_message = record.error().message;
      note_failure(index, failed, true);
      continue;
    }
    if (auto written = store_.put_study(*record); !written) return written;
    tally_.over("study " + record->id);
    tally_.cell_over();
    note_failure(index, *record, false);
    for (auto* listener : listeners_) listener->study_over(news_of(index, *record), store_);
    gate_->over(index, *record);
    any = true;
  }
  if (any) {
    if (auto written = update_release_record(store_, out_, studies_.front().outcome().spec); !written)
      return written;
  }
  if (!cancelling_.empty()) return {};
  for (const auto& taken : heeded_) remove_request(taken);
  heeded_.clear();
  return any ? open_gate() : Result<void>{};
}

}  // namespace hyfreedp::runner
