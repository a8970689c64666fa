#include "harness/runner/odometer/charge.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "baselines/baseline.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/runner/odometer/release.h"
#include "harness/trial/event_tally.h"
#include "harness/trial/trial_config.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

using trial::ChargedAttempt;
using trial::EventTally;

EventTally whole_of(const ChargedAttempt& attempt) { return EventTally(trial::events_of({attempt})); }

}  // namespace

bool has_nonce(const ChargedAttempt& attempt) { return !attempt.name.empty(); }

std::ptrdiff_t count_nameless(const std::vector<ChargedAttempt>& attempts) {
  return std::ranges::count_if(attempts, std::not_fn(has_nonce));
}

bool has_others(const std::vector<ChargedAttempt>& attempts, const std::vector<ChargedAttempt>& than) {
  const auto is_other = [&](const ChargedAttempt& attempt) {
    return has_nonce(attempt) && !attempt.events.empty() &&
           std::ranges::find(than, attempt.name, &ChargedAttempt::name) == than.end();
  };
  return std::ranges::any_of(attempts, is_other) || count_nameless(attempts) > count_nameless(than);
}

void raise_charge(ChargedAttempt& attempt, const ChargedAttempt& told, bool is_of_another_making) {
  const bool may_be_made_again = is_of_another_making && attempt.name == mechanism::kSeededNonce;
  // The journal decides whether another attempt goes on from this one, unless it is an older copy,
  // which has less than was recorded.
  if (!may_be_made_again && EventTally(attempt.events).contains(EventTally(told.events))) return;
  auto larger = whole_of(attempt);
  larger.raise_to(whole_of(told));
  attempt = {attempt.name, larger.events()};
}

void add_recorded(std::vector<ChargedAttempt>& charged, const results::TrialRecord& recorded) {
  auto attempts = recorded.charged;
  if (attempts.empty()) attempts.push_back({"", recorded.events});  // of an older version
  const bool is_of_another_making = has_others(attempts, charged);
  std::vector<EventTally> lost;
  for (const auto& attempt : charged) {
    if (attempt.name.empty()) lost.emplace_back(attempt.events);
  }
  for (auto& attempt : attempts) {
    if (attempt.events.empty()) continue;
    const auto same = std::ranges::find(charged, attempt.name, &ChargedAttempt::name);
    if (!attempt.name.empty() && same != charged.end()) {
      raise_charge(*same, attempt, is_of_another_making);
      continue;
    }
    // Each lost attempt stands for one.
    const auto stands_for = std::ranges::find_if(
        lost, [&](const EventTally& whole) { return whole.contains(whole_of(attempt)); });
    if (stands_for != lost.end()) {
      lost.erase(stands_for);
    } else {
      charged.push_back(std::move(attempt));
    }
  }
}

namespace {

// True if the last attempt has a start line and nothing else: its worker was killed before it
// booked anything, or somebody cut the journal.
bool last_has_not_booked(const mechanism::Journal& journal) {
  if (journal.finish || journal.nonce.empty()) return false;
  const auto last = std::ranges::find(journal.charged, journal.nonce, &ChargedAttempt::name);
  return last != journal.charged.end() && last->events.empty() && last->rest.empty();
}

void charge_whole(const std::string& name, std::vector<accounting::Event> whole,
                  std::vector<ChargedAttempt>& charged) {
  const auto same = name.empty() ? charged.end() : std::ranges::find(charged, name, &ChargedAttempt::name);
  if (same != charged.end()) {
    *same = {name, std::move(whole)};
  } else {
    charged.push_back({name, std::move(whole)});
  }
}

}  // namespace

bool is_missing_journal(const std::string& path) {
  const auto text = read_file(path);
  return text ? text->find('\n') == std::string::npos : !std::filesystem::exists(path);
}

Result<std::optional<random::KeyLabel>> key_label(const std::string& path) {
  auto stored = random::read_key(path);
  if (!stored) return stored.error();
  if (!*stored) return std::optional<random::KeyLabel>{};
  return std::move((**stored).label);
}

namespace {

// By whichever of the three names it; none where nothing is known.
Result<std::optional<trial::TrialConfig>> config_of(const KnownOfTrial& known) {
  if (known.journal != nullptr) return std::optional(known.journal->config);
  if (known.recorded == nullptr && !known.key) return std::optional<trial::TrialConfig>();
  auto config =
      known.recorded != nullptr
          ? trial::TrialConfig::from_json(known.recorded->config, "trial " + known.recorded->id)
          : trial::TrialConfig::from_json(known.key->config, "the key file of trial " + known.key->trial);
  if (!config) return config.error();
  return std::optional(std::move(*config));
}

}  // namespace

Result<std::vector<ChargedAttempt>> charge_of(const KnownOfTrial& known) {
  const auto* journal = known.journal;
  const auto* recorded = known.recorded;
  const auto& key = known.key;
  std::vector<ChargedAttempt> charged;
  const auto config = config_of(known);
  if (!config) return config.error();
  if (!*config) return charged;
  const bool is_seeded = (**config).noise_seed.has_value();
  const auto planned = mechanism::events(**config);
  if (journal != nullptr) charged = journal->charged;
  const bool is_of_key = key && journal != nullptr && journal->nonces.contains(key->nonce);
  const bool has_lost_journal = key && !is_of_key;
  if (has_lost_journal) {
    for (std::int64_t attempt = 0; attempt < key->attempt; ++attempt)
      charge_whole(is_seeded && attempt == 0 ? mechanism::kSeededNonce : "", planned, charged);
    charge_whole(key->nonce, planned, charged);
  }
  const bool has_unbooked = journal != nullptr && last_has_not_booked(*journal);
  if (recorded != nullptr) add_recorded(charged, *recorded);
  if (recorded == nullptr || results::is_final(*recorded)) {
    if (has_unbooked && !known.released_nothing) charge_whole(journal->nonce, planned, charged);
    return charged;
  }
  if (!recorded->begun_after || known.released_nothing) return charged;
  const bool has_begun = journal != nullptr && journal->starts > *recorded->begun_after;
  const bool is_new_key =
      key && key->nonce != recorded->begun_key &&
      std::ranges::find(recorded->charged, key->nonce, &ChargedAttempt::name) == recorded->charged.end();
  const bool is_explained = has_begun ? !has_unbooked : has_lost_journal && is_new_key;
  if (is_explained) return charged;
  // A worker that found the key goes on with the key's attempt; one of a seeded run that found no
  // journal begins the first.
  const bool is_first = is_seeded && *recorded->begun_after == 0;
  const auto name = has_begun                                  ? journal->nonce
                    : key && key->nonce == recorded->begun_key ? key->nonce
                    : is_first                                 ? mechanism::kSeededNonce
                                                               : std::string();
  charge_whole(name, planned, charged);
  return charged;
}

Result<std::vector<ChargedAttempt>> charge_of_ended(const OutFolder& out,
                                                    const results::TrialRecord& record) {
  if (!has_seeded_noise(record) || !std::filesystem::exists(out.key(record.id))) return record.charged;
  const auto key = key_label(out.key(record.id));
  if (!key) return key.error();
  std::optional<mechanism::Journal> journal;
  if (const auto path = out.journal(record.id); !is_missing_journal(path)) {
    auto read = mechanism::read_journal(path);
    if (!read) return read.error();
    if (read->trial == record.id) journal = std::move(*read);
  }
  return charge_of({.journal = journal ? &*journal : nullptr, .key = *key, .recorded = &record});
}

std::vector<ChargedAttempt> beside(const std::vector<ChargedAttempt>& run,
                                   const std::vector<ChargedAttempt>& all) {
  std::vector<ChargedAttempt> others;
  auto nameless = count_nameless(run);
  for (const auto& attempt : all) {
    if (!has_nonce(attempt)) {
      if (nameless-- <= 0) others.push_back(attempt);
      continue;
    }
    const auto same = std::ranges::find(run, attempt.name, &ChargedAttempt::name);
    if (same == run.end() || !whole_of(*same).contains(whole_of(attempt))) others.push_back(attempt);
  }
  return others;
}

Result<std::string> spec_of_run(const results::Store& store, const std::string& run) {
  const auto lists = [&](const auto& row) { return std::ranges::count(row.trials, run) > 0; };
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  if (const auto row = std::ranges::find_if(*studies, lists); row != studies->end()) return row->spec;
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  const auto row = std::ranges::find_if(*retired, lists);
  return row != retired->end() ? row->spec : "";
}

Result<void> put_charge(results::Store& store, const std::string& spec, const results::TrialRecord& run,
                        const std::vector<trial::ChargedAttempt>& attempts) {
  const auto config = trial::TrialConfig::from_json(run.config, "trial " + run.id);
  if (!config) return config.error();
  std::set<std::string> names;
  for (const auto& attempt : attempts) names.insert(attempt.name);
  // Two folders may tell of attempts whose names are lost.
  const auto lost = "lost beside " + sha256_hex(join({names.begin(), names.end()}, " ")).substr(0, 16);
  trial::Composition charge{.rule = trial::Composition::Rule::sum, .dataset = config->dataset};
  for (const auto& attempt : attempts) {
    charge.not_begun.push_back({.events = trial::events_of({attempt}),
                                .trial = run.id,
                                .attempt = has_nonce(attempt)
                                               ? attempt.name
                                               : lost + " " + std::to_string(charge.not_begun.size())});
  }
  return store.put_retired(
      {.id = run.id, .spec = spec, .method = "", .composition = std::move(charge), .trials = {}});
}

std::vector<accounting::Event> as_planned(const trial::TrialConfig& config,
                                          std::vector<accounting::Event> booked) {
  if (booked.empty()) return booked;
  EventTally charged(booked);
  charged.raise_to(EventTally(mechanism::events(config)));
  return charged.events();
}

Result<std::vector<accounting::Event>> charged_events(const results::TrialRecord& record) {
  if (record.state == trial::TrialState::finished || record.events.empty()) return record.events;
  const auto config = trial::TrialConfig::from_json(record.config, "trial " + record.id);
  if (!config) return config.error();
  return as_planned(*config, record.events);
}

}  // namespace hyfreedp::runner
