#include "harness/training/audit/audit_run.h"

#include "harness/random/key_file.h"
#include "harness/training/fingerprint.h"
#include "harness/training/trainer.h"

namespace hyfreedp::training {

Result<std::vector<accounting::Event>> run_under(mechanism::Observer& observer, const Experiment& experiment,
                                                 std::int64_t repetition, const ScratchFolder& folder,
                                                 const Parts& parts) {
  auto config = experiment.config;
  config.repetition = repetition;
  const auto journal_path = folder.path() + "/" + config.id() + ".jsonl";
  const auto key_path = folder.path() + "/" + config.id() + ".key";
  // The files of an audit do not outlive it, so nothing waits for the disk.
  const auto no_sync = [](int) { return 0; };
  auto journal =
      mechanism::JournalWriter::open(journal_path, config, fingerprint(config.device), {}, {}, no_sync);
  if (!journal) return journal.error();
  const auto key = parts.key(config, key_path, **journal);
  if (!key) return key.error();
  const auto end = train({.config = config,
                          .dataset = experiment.dataset,
                          .key = *key,
                          .journal = **journal,
                          .observer = &observer,
                          .parts = parts});
  if (!end) return end.error();
  if (auto deleted = random::delete_key(key_path); !deleted) return deleted.error();
  if (end->finish.state != trial::TrialState::finished) {
    return error("A run of the audit did not finish (" + end->finish.kind + "): " + end->finish.message);
  }
  auto read = mechanism::read_journal(journal_path);
  if (!read) return read.error();
  return std::move(read->executed);
}

}  // namespace hyfreedp::training
