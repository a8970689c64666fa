#include "harness/runner/upkeep/held_runs.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "harness/base/files.h"
#include "harness/mechanism/journal.h"
#include "harness/runner/executors/executor.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/trial_book.h"
#include "harness/trial/event_tally.h"
#include "results/store/records.h"
#include "results/store/states.h"

namespace hyfreedp::runner {

using results::TrialRecord;
using trial::ChargedAttempt;

Result<std::set<std::string>> stems(const std::string& folder, const std::string& extension) {
  const auto paths = entries_of(folder);
  if (!paths) return paths.error();
  std::set<std::string> names;
  for (const auto& path : *paths) {
    if (path.extension() == extension && path.stem().extension() != ".draws")
      names.insert(path.stem().string());
  }
  return names;
}

Error unreadable(const std::string& folder, const char* what) {
  return error(
      fmt::format("{}: {} cannot be read or was changed. Put back a copy; `hyfreedp doctor --confidential` "
                  "names it.",
                  folder, what));
}

Result<std::optional<Held>> open_run(const Side& side, const std::string& id,
                                     const std::optional<TrialRecord>& recorded) {
  std::optional<mechanism::Journal> journal;
  if (!is_missing_journal(side.out.journal(id))) {
    auto read = mechanism::read_journal(side.out.journal(id));
    if (!read || read->trial != id) return unreadable(side.out.journals(), "a journal");
    journal = std::move(*read);
  }
  const auto key = key_label(side.out.key(id));
  if (!key) return unreadable(side.out.keys(), "a key");
  if (!journal && !*key && !recorded) return std::optional<Held>{};
  auto charged = charge_of(
      {.journal = journal ? &*journal : nullptr, .key = *key, .recorded = recorded ? &*recorded : nullptr});
  if (!charged) return charged.error();
  const bool journal_says_all = journal && (!*key || journal->nonces.contains((**key).nonce));
  Held held{.record = recorded.value_or(TrialRecord{}),
            .is_over = journal && has_lasting_end(*journal),
            .has_journal = journal.has_value(),
            .is_recorded = recorded || !journal_says_all};
  auto& record = held.record;
  if (!recorded) {
    record.id = id;
    record.config = journal ? journal->config.to_json() : (**key).config;
    record.state = trial::TrialState::failed;
    record.failure_kind = kKilled;
    record.failure_message = "It was not over when its folder was merged.";
  }
  record.charged = std::move(*charged);
  record.events = trial::events_of(record.charged);
  record.begun_after.reset();  // it is in the charge
  held.told = record.charged;
  const auto booked =
      std::ranges::count_if(record.charged, [](const auto& one) { return !one.events.empty(); });
  record.attempts = std::max<std::int64_t>(record.attempts, booked);
  return std::optional<Held>(std::move(held));
}

Result<std::optional<Held>> held(const Side& side, const std::string& id) {
  auto recorded = side.store->trial(id);
  if (!recorded) return recorded.error();
  if (!*recorded || !results::is_final(**recorded)) return open_run(side, id, *recorded);
  auto told = charge_of_ended(side.out, **recorded);
  if (!told) return unreadable(side.out.journals(), "a journal");
  return std::optional<Held>(Held{.record = std::move(**recorded),
                                  .told = std::move(*told),
                                  .is_final = true,
                                  .is_over = true,
                                  .has_journal = !is_missing_journal(side.out.journal(id))});
}

void add_attempts(std::vector<ChargedAttempt>& all, const std::vector<ChargedAttempt>& others) {
  const bool are_two_makings = has_others(all, others) && has_others(others, all);
  for (const auto& attempt : others) {
    const auto same =
        has_nonce(attempt) ? std::ranges::find(all, attempt.name, &ChargedAttempt::name) : all.end();
    if (same != all.end()) {
      raise_charge(*same, attempt, are_two_makings);
    } else {
      all.push_back(attempt);
    }
  }
}

bool is_contained(const std::vector<ChargedAttempt>& part, const std::vector<ChargedAttempt>& whole) {
  return std::ranges::all_of(part, [&](const ChargedAttempt& attempt) {
    if (attempt.events.empty()) return true;
    const auto same = std::ranges::find(whole, attempt.name, &ChargedAttempt::name);
    return !attempt.name.empty() && same != whole.end() &&
           trial::EventTally(same->events).contains(trial::EventTally(attempt.events));
  });
}

json::object outcome_of(const TrialRecord& record) {
  auto outcome = results::to_json(record);
  for (const char* key : {"fingerprint", "builds", "attempts", "seconds", "peak_bytes", "device_peak_bytes",
                          "failure_message"}) {
    outcome.erase(key);
  }
  return outcome;
}

}  // namespace hyfreedp::runner
