#include "harness/runner/trial_book.h"

#include <filesystem>
#include <utility>

#include "harness/random/key_file.h"
#include "results/states.h"

namespace hyfreedp::runner {
namespace {

bool has_lasting_end(const trial::Journal& journal) {
  return journal.finish && (journal.finish->state == trial::TrialState::finished ||
                            !results::may_be_tried_again(journal.finish->kind));
}

results::TrialRecord record_of(const trial::TrialConfig& config, const trial::Journal& journal) {
  results::TrialRecord record;
  record.id = config.id();
  record.config = config.to_json();
  record.fingerprint = journal.fingerprint;
  record.attempts = journal.attempt + 1;
  record.events = journal.executed;
  if (!journal.finish) return record;
  record.state = journal.finish->state;
  record.failure_kind = journal.finish->kind;
  record.failure_message = journal.finish->message;
  record.notes = journal.finish->notes;
  record.counts = journal.finish->counts;
  record.seconds = journal.finish->seconds;
  return record;
}

std::optional<double> last_value(const std::vector<trial::MetricRecord>& metrics, const std::string& split,
                                 const std::string& name) {
  std::optional<double> value;
  for (const auto& metric : metrics) {
    if (metric.split == split && metric.name == name) value = metric.value;
  }
  return value;
}

}  // namespace

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
  const auto metrics = store_.metrics(record.id, true);
  if (!metrics) return metrics.error();
  // A method gets what its config asked for, and nothing else.
  const auto& asked = config.evaluation;
  if (asked.score) end.trial.released_score = last_value(*metrics, trial::kValidationSplit, "score");
  if (asked.oracle_validation)
    end.trial.oracle_validation = last_value(*metrics, trial::kValidationSplit, "accuracy");
  if (asked.oracle_train) end.trial.oracle_train = last_value(*metrics, trial::kTrainSplit, "accuracy");
  return end;
}

Result<std::optional<TrialEnd>> TrialBook::earlier(const trial::TrialConfig& config) {
  const std::string id = config.id();
  const auto known = store_.trial(id);
  if (!known) return known.error();
  if (*known && results::is_final(**known)) {
    auto end = end_of(**known, config);
    if (!end) return end.error();
    return std::optional<TrialEnd>(std::move(*end));
  }
  if (!std::filesystem::exists(out_.journal(id))) return std::optional<TrialEnd>{};
  const auto journal = trial::read_journal(out_.journal(id));
  // A journal without a whole first line is one whose worker was killed while it wrote it; a
  // damaged one the worker refuses, with the reason. So does it another trial's.
  if (!journal || journal->trial != id || !has_lasting_end(*journal)) return std::optional<TrialEnd>{};
  auto end = put(config, *journal);
  if (!end) return end.error();
  return std::optional<TrialEnd>(std::move(*end));
}

Result<void> TrialBook::rebuild(const std::string& id) {
  const auto known = store_.trial(id);
  if (!known) return known.error();
  if (*known && results::is_final(**known)) return {};
  const auto path = out_.journal(id);
  if (!std::filesystem::exists(path)) return error(path + ": there is no such journal.");
  const auto journal = trial::read_journal(path);
  if (!journal) return journal.error();
  if (journal->trial != id) return error(path + ": the journal belongs to trial " + journal->trial + ".");
  if (!has_lasting_end(*journal)) return error(path + ": the journal has no end.");
  const auto end = put(journal->config, *journal);
  if (!end) return end.error();
  return {};
}

Result<TrialEnd> TrialBook::put(const trial::TrialConfig& config, const trial::Journal& journal) {
  // A worker killed between its last line and the deletion of its key leaves the key behind.
  if (!config.noise_seed && has_lasting_end(journal)) {
    if (auto deleted = random::delete_key(out_.key(config.id())); !deleted) return deleted.error();
  }
  const auto record = record_of(config, journal);
  if (auto written = store_.put_trial(record, journal.steps, journal.metrics); !written)
    return written.error();
  return end_of(record, config);
}

Result<TrialEnd> TrialBook::record(const trial::TrialConfig& config, const Update& update) {
  const auto journal = trial::read_journal(out_.journal(config.id()));
  if (journal && journal->trial != config.id()) {
    return error(out_.journal(config.id()) + ": the journal belongs to trial " + journal->trial + ".");
  }
  if (journal && journal->finish) return put(config, *journal);
  // It ended without saying so: what it booked is charged all the same.
  auto record = record_of(config, journal ? *journal : trial::Journal{});
  record.state = trial::TrialState::failed;
  record.failure_kind = update.failed ? update.failure_kind : kInternal;
  record.failure_message =
      update.failed ? update.message : "The worker announced its end, but its journal has none.";
  record.seconds = update.seconds;
  if (auto written = store_.put_trial(record, {}, {}); !written) return written.error();
  return end_of(record, config);
}

}  // namespace hyfreedp::runner
