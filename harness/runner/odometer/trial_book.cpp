#include "harness/runner/odometer/trial_book.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/base/files.h"
#include "harness/random/key_file.h"
#include "harness/runner/odometer/charge.h"
#include "harness/trial/event_tally.h"
#include "results/store/states.h"

namespace hyfreedp::runner {
namespace {

// `journal` may be null: of a run that left none that can be read.
std::int64_t count_booked(const results::TrialRecord& record) {
  return std::ranges::count_if(record.charged, [](const auto& attempt) { return !attempt.events.empty(); });
}

// Memory follows realised batch sizes a little, so it is told in steps, as run_system's
// (results/store/schema.cpp). The journal, its owner's, has the bytes.
std::int64_t rounded_up(std::int64_t bytes) {
  constexpr std::int64_t kStep = std::int64_t{1} << 26;
  return (bytes + kStep - 1) / kStep * kStep;
}

results::TrialRecord record_of(const trial::TrialConfig& config, const mechanism::Journal* journal) {
  results::TrialRecord record;
  record.id = config.id();
  record.config = config.to_json();
  if (journal == nullptr) return record;
  record.fingerprint = journal->fingerprint;
  if (!journal->code.empty()) record.fingerprint["code"] = journal->code;
  record.builds = journal->builds;
  record.attempts = journal->attempt + 1;
  if (!journal->finish) return record;
  record.state = journal->finish->state;
  record.failure_kind = journal->finish->kind;
  record.failure_message = journal->finish->message;
  record.notes = journal->finish->notes;
  record.counts = journal->finish->counts;
  record.seconds = journal->finish->seconds;
  record.peak_bytes = rounded_up(journal->finish->peak_bytes);
  record.device_peak_bytes = rounded_up(journal->finish->device_peak_bytes);
  return record;
}

Result<std::optional<double>> last_value(const results::Store& store, const std::string& trial,
                                         const char* split, const char* name) {
  const auto last = store.last_metrics(trial, split, name, 1, true);
  if (!last) return last.error();
  return last->empty() ? std::optional<double>{} : last->front().value;
}

}  // namespace

bool has_lasting_end(const mechanism::Journal& journal) {
  return journal.finish && (journal.finish->state == trial::TrialState::finished ||
                            !results::may_be_tried_again(journal.finish->kind));
}

Result<results::TrialRecord> TrialBook::stored(const std::string& id) const {
  auto record = store_.trial(id);
  if (!record) return record.error();
  if (!*record) return error("The database has no trial " + id + ".");
  return std::move(**record);
}

Result<TrialEnd> TrialBook::end_of(const results::TrialRecord& record,
                                   const trial::TrialConfig& config) const {
  TrialEnd end;
  end.trial = {.id = record.id, .config = config};
  end.trial.failed = record.state != trial::TrialState::finished;
  end.trial.failure_kind = record.failure_kind;
  end.message = record.failure_message;
  end.lost = end.trial.failed && results::may_be_tried_again(record.failure_kind);
  if (end.trial.failed) return end;
  // A method gets what its config asked for, and nothing else.
  const auto& asked = config.evaluation;
  Result<void> outcome;
  const auto read = [&](bool is_asked, const char* split, const char* name, std::optional<double>& target) {
    if (!is_asked || !outcome) return;
    auto value = last_value(store_, record.id, split, name);
    if (value) {
      target = *value;
    } else {
      outcome = value.error();
    }
  };
  read(asked.score.has_value(), trial::kValidationSplit, "score", end.trial.released_score);
  read(asked.oracle_validation, trial::kValidationSplit, "accuracy", end.trial.oracle_validation);
  read(asked.oracle_train, trial::kTrainSplit, "accuracy", end.trial.oracle_train);
  if (!outcome) return outcome.error();
  return end;
}

Result<std::optional<TrialEnd>> TrialBook::earlier(const trial::TrialConfig& config) {
  const std::string id = config.id();
  const auto known = store_.trial(id);
  if (!known) return known.error();
  if (*known && results::is_final(**known)) {
    if (auto kept = keep_another_making(**known); !kept) return kept.error();
    // A coordinator killed between the record and the deletion of the key leaves the key behind.
    if (auto deleted = delete_secrets_of(config); !deleted) return deleted.error();
    auto end = end_of(**known, config);
    if (!end) return end.error();
    return std::optional<TrialEnd>(std::move(*end));
  }
  if (!std::filesystem::exists(out_.journal(id))) return std::optional<TrialEnd>{};
  const auto journal = mechanism::read_journal(out_.journal(id));
  // A journal without a whole first line is one whose worker was killed while it wrote it; a
  // damaged one the worker refuses, with the reason. So does it another trial's.
  if (!journal || journal->trial != id || !has_lasting_end(*journal)) return std::optional<TrialEnd>{};
  auto end = put(config, *journal);
  if (!end) return end.error();
  return std::optional<TrialEnd>(std::move(*end));
}

Result<void> TrialBook::keep_another_making(const results::TrialRecord& over) const {
  const auto charged = charge_of_ended(out_, over);
  if (!charged) return charged.error();
  const auto others = beside(over.charged, *charged);
  if (others.empty()) return {};
  const auto spec = spec_of_run(store_, over.id);
  return spec ? put_charge(store_, *spec, over, others) : spec.error();
}

Result<void> TrialBook::rebuild(const std::string& id) {
  const auto known = store_.trial(id);
  if (!known) return known.error();
  if (*known && results::is_final(**known)) return {};
  const auto path = out_.journal(id);
  if (!std::filesystem::exists(path)) return error(path + ": there is no such journal.");
  const auto journal = mechanism::read_journal(path);
  if (!journal) return journal.error();
  if (journal->trial != id) return error(path + ": the journal belongs to trial " + journal->trial + ".");
  if (!has_lasting_end(*journal)) return error(path + ": the journal has no end.");
  const auto end = put(journal->config, *journal);
  if (!end) return end.error();
  return {};
}

Result<void> TrialBook::take_in(const std::string& id) {
  const auto journal = journal_of(id);
  if (journal && has_lasting_end(*journal)) return rebuild(id);
  const auto known = store_.trial(id);
  if (!known) return known.error();
  if (*known) return results::is_final(**known) ? Result<void>() : charge_anew(**known, journal);
  auto config = journal ? journal->config : trial::TrialConfig();
  if (!journal) {
    const auto label = key_label(out_.key(id));
    // A key that cannot be read is for the worker to refuse and for the odometer to name.
    if (!label || !*label || !is_missing_journal(out_.journal(id))) return {};
    auto labelled = trial::TrialConfig::from_json((**label).config, out_.key(id));
    if (!labelled) return labelled.error();
    config = std::move(*labelled);
  }
  if (auto noted = note(config, false, Heard::maybe_more); !noted) return noted.error();
  return {};
}

// How it ended stays as it is known. No worker has it, so that it is charged once for the one that
// may have had it.
Result<void> TrialBook::charge_anew(const results::TrialRecord& known,
                                    const std::optional<mechanism::Journal>& journal) {
  auto record = known;
  if (auto charged = charge(record, journal ? &*journal : nullptr); !charged) return charged;
  record.begun_after.reset();
  record.begun_key.clear();
  const bool is_told = trial::EventTally(known.events).contains(trial::EventTally(record.events));
  return is_told ? Result<void>() : store_.put_trial(record, {}, {});
}

std::optional<mechanism::Journal> TrialBook::journal_of(const std::string& id) const {
  auto journal = mechanism::read_journal(out_.journal(id));
  return journal && journal->trial == id ? std::optional(std::move(*journal)) : std::nullopt;
}

Result<std::int64_t> TrialBook::attempts(const trial::TrialConfig& config) const {
  const auto journal = journal_of(config.id());
  auto record = record_of(config, nullptr);
  if (auto charged = charge(record, journal ? &*journal : nullptr); !charged) return charged.error();
  return count_booked(record);
}

Result<std::int64_t> TrialBook::begin(const trial::TrialConfig& config) {
  return note(config, true, Heard::maybe_more);
}

Result<void> TrialBook::interrupt(const trial::TrialConfig& config, Heard heard) {
  const auto known = store_.trial(config.id());
  if (!known) return known.error();
  if (!*known || !(**known).begun_after) return {};
  if (auto noted = note(config, false, heard); !noted) return noted.error();
  return {};
}

Result<std::int64_t> TrialBook::note(const trial::TrialConfig& config, bool begins, Heard heard) {
  const std::string id = config.id();
  const auto journal = journal_of(id);
  if (!journal && !is_missing_journal(out_.journal(id))) return attempts(config);
  auto record = record_of(config, journal ? &*journal : nullptr);
  record.state = trial::TrialState::running;
  record.failure_kind.clear();
  record.failure_message.clear();
  if (auto charged = charge(record, journal ? &*journal : nullptr, heard); !charged) return charged.error();
  const auto booked = count_booked(record);
  if (begins) {
    record.begun_after = journal ? journal->starts : 0;
    const auto key = key_label(out_.key(id));
    record.begun_key = key && *key ? (**key).nonce : "";
  }
  if (auto written = store_.put_trial(record, {}, {}); !written) return written.error();
  return booked;
}

Result<bool> TrialBook::settle_key(const std::string& path) {
  const auto stem = std::filesystem::path(path).stem();
  if (stem.extension() == ".draws") return true;
  const std::string id = stem.string();
  const bool has_journal = !is_missing_journal(out_.journal(id));
  const auto label = key_label(path);
  if (!label) return false;
  if (!*label) return has_journal;
  const auto known = store_.trial(id);
  if (!known) return known.error();
  if (*known && results::is_final(**known)) {
    if (auto kept = keep_another_making(**known); !kept) return kept.error();
    return true;
  }
  auto journal = mechanism::read_journal(out_.journal(id));
  const auto config = trial::TrialConfig::from_json((**label).config, path);
  if (!config) return config.error();
  if (config->noise_seed) return false;  // it is no secret
  if (journal && journal->nonces.contains((**label).nonce)) return true;
  if (!journal && has_journal) return false;               // it may be mended
  if (journal && has_lasting_end(*journal)) return false;  // of another folder
  const auto known_attempts = attempts(*config);
  if (!known_attempts) return known_attempts.error();
  // Opens the journal as a worker that goes on does: the start line charges what is lost.
  const auto made = mechanism::JournalWriter::open(out_.journal(id), *config, {},
                                                   {.key = **label, .recorded = *known_attempts});
  if (!made) return made.error();
  // The attempt that the start line begins releases nothing.
  const trial::Finish end{
      .state = trial::TrialState::failed,
      .kind = kInternal,
      .message = "Its journal is lost; every attempt that its key tells of is charged whole."};
  if (auto written = (**made).finish(end); !written) return written.error();
  journal = mechanism::read_journal(out_.journal(id));
  if (!journal) return journal.error();
  auto record = record_of(*config, &*journal);
  if (auto charged = charge(record, &*journal); !charged) return charged.error();
  if (auto written = store_.put_trial(record, {}, {}); !written) return written.error();
  return true;
}

Result<void> TrialBook::delete_secrets_of(const trial::TrialConfig& config) const {
  // What the key tells would be known to a copy alone.
  if (store_.is_scratch()) return {};
  const auto id = config.id();
  if (auto deleted = remove_folder(out_.checkpoints(id)); !deleted) return deleted;
  return random::delete_key(out_.key(id));
}

// A journal that was changed may be put back, so what it booked is left to it; what was recorded
// stays.
Result<void> TrialBook::charge(results::TrialRecord& record, const mechanism::Journal* journal,
                               Heard heard) const {
  const auto known = store_.trial(record.id);
  if (!known) return known.error();
  const auto* recorded = *known ? &**known : nullptr;
  if (recorded != nullptr && !recorded->events.empty())
    record.attempts = std::max(record.attempts, recorded->attempts);
  if (journal == nullptr && !is_missing_journal(out_.journal(record.id))) {
    if (recorded == nullptr) return {};
    record.events = recorded->events;
    record.charged = recorded->charged;
    record.begun_after = recorded->begun_after;
    record.begun_key = recorded->begun_key;
    return {};
  }
  std::optional<random::KeyLabel> key;
  // A key file that cannot be read is for the worker to refuse and for the odometer to name.
  if (auto label = key_label(out_.key(record.id))) key = std::move(*label);
  auto charged = charge_of(
      {.journal = journal, .key = key, .recorded = recorded, .released_nothing = heard == Heard::nothing});
  if (!charged) return charged.error();
  record.charged = std::move(*charged);
  record.events = trial::events_of(record.charged);
  if (key) record.attempts = std::max(record.attempts, key->attempt + 1);
  const auto booked =
      std::ranges::count_if(record.charged, [](const auto& attempt) { return !attempt.events.empty(); });
  record.attempts = std::max<std::int64_t>(record.attempts, booked);
  return {};
}

Result<TrialEnd> TrialBook::put(const trial::TrialConfig& config, const mechanism::Journal& journal) {
  auto record = record_of(config, &journal);
  if (auto charged = charge(record, &journal); !charged) return charged.error();
  if (auto written = store_.put_trial(record, journal.steps, journal.metrics); !written)
    return written.error();
  // A worker killed between its last line and the deletion of its key leaves the key behind.
  if (has_lasting_end(journal)) {
    if (auto deleted = delete_secrets_of(config); !deleted) return deleted.error();
  }
  return end_of(record, config);
}

Result<TrialEnd> TrialBook::record(const trial::TrialConfig& config, const Update& update, Heard heard) {
  const std::string path = out_.journal(config.id());
  const auto journal = mechanism::read_journal(path);
  if (journal && journal->trial != config.id()) {
    return error(path + ": the journal belongs to trial " + journal->trial + ".");
  }
  if (journal && journal->finish) return put(config, *journal);
  // It ended without saying so: what it booked is charged all the same.
  auto record = record_of(config, journal ? &*journal : nullptr);
  record.state = trial::TrialState::failed;
  record.failure_kind = update.failed ? update.failure_kind : kInternal;
  record.failure_message =
      update.failed ? update.message : "The worker announced its end, but its journal has none.";
  record.seconds = update.seconds;
  if (auto charged = charge(record, journal ? &*journal : nullptr, heard); !charged) return charged.error();
  if (auto written = store_.put_trial(record, {}, {}); !written) return written.error();
  return end_of(record, config);
}

}  // namespace hyfreedp::runner
