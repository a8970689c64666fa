#include "harness/training/audit/audit_run.h"

#include <filesystem>
#include <stdlib.h>
#include <utility>

#include "harness/random/key_file.h"
#include "harness/training/fingerprint.h"
#include "harness/training/trainer.h"

namespace hyfreedp::training {

Result<AuditFolder> AuditFolder::make() {
  std::error_code failed;
  const auto parent = std::filesystem::temp_directory_path(failed);
  std::string path = (parent / "hyfreedp-audit-XXXXXX").string();
  if (failed || ::mkdtemp(path.data()) == nullptr) {
    return error("No temporary folder could be made for the audit's journals in '" + parent.string() +
                 "'. Set TMPDIR to a folder that can be written to.");
  }
  return AuditFolder(path);
}

AuditFolder::AuditFolder(AuditFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

AuditFolder::~AuditFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::vector<accounting::Event>> run_under(mechanism::Observer& observer, const Experiment& experiment,
                                                 std::int64_t repetition, const AuditFolder& folder,
                                                 const Parts& parts) {
  auto config = experiment.config;
  config.repetition = repetition;
  const auto journal_path = folder.file(config.id() + ".jsonl");
  const auto key_path = folder.file(config.id() + ".key");
  // Nothing that an audit writes outlives it, so nothing waits for the disk.
  const auto no_sync = [](int) { return 0; };
  auto journal =
      mechanism::JournalWriter::open(journal_path, config, fingerprint(config.device), {}, no_sync);
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
  if (!config.noise_seed) {
    if (auto deleted = random::delete_key(key_path); !deleted) return deleted.error();
  }
  if (end->finish.state != trial::TrialState::finished) {
    return error("A run of the audit did not finish (" + end->finish.kind + "): " + end->finish.message);
  }
  auto read = mechanism::read_journal(journal_path);
  if (!read) return read.error();
  return std::move(read->executed);
}

}  // namespace hyfreedp::training
