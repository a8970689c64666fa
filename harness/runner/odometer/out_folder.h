// The output folder: one database, the journals and keys of its trials, one folder for each spec's
// derived files, and a lock, so that two coordinators never work in it at once.
//
// The program makes it with mode 0700: sizes and times of its files tell how many runs a private
// selection made, which nobody may learn who is told the selection's price.
#pragma once

#include <optional>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::runner {

struct OutFolder {
  std::string root;

  std::string database() const;  // ROOT/hyfreedp.sqlite
  std::string journals() const;  // ROOT/journals
  std::string keys() const;      // ROOT/keys
  std::string journal(const std::string& trial) const;
  std::string key(const std::string& trial) const;
  // The checkpoints of an interrupted run: ROOT/checkpoints/TRIAL, mode 0700.
  std::string all_checkpoints() const;
  std::string checkpoints(const std::string& trial) const;
  // of the baselines' draws, in unseeded specs
  std::string draw_key(const std::string& spec) const;
  // The record of what a spec has released (release_record.h):
  // ROOT/journals/SPEC.releases.json
  std::string release_record(const std::string& spec) const;
  std::string derived(const std::string& spec) const;  // ROOT/SPEC
  // Weights of runs whose rows have no end yet, each trial's in a folder of its own; mode 0700.
  std::string staged_weights(const std::string& spec) const;  // ROOT/staged-weights/SPEC
  // Requests of `cancel`, `note` and `tag` to the coordinator that works there
  // (execute/study_request.h); mode 0700.
  std::string requests() const;  // ROOT/requests
  std::string lock() const;      // ROOT/hyfreedp.lock
  // The state of a run under way (harness/runner/progress/snapshot.h): ROOT/progress.json
  std::string progress() const;
};

// Sets an output folder's mode to 0700, as far as the file system and its owner allow. Says what
// became of a folder into which others could look before; empty where they could not.
std::string close_to_others(const OutFolder& folder);

// True if ROOT/NAME is a folder of ROOT's own, so that no spec can be named NAME.
bool is_taken_in_out_folder(const std::string& name);

// Held while a coordinator or any worker that it started lives: workers inherit the descriptor.
// After a kill -9 of the coordinator its workers die with it; acquire() waits a moment for that and
// refuses only a living holder, by its process number.
class FolderLock {
 public:
  static Result<FolderLock> acquire(const OutFolder& folder);
  // The process that holds the lock now, if any.
  static std::optional<int> holder(const OutFolder& folder);
  // True if any process holds it, also one that the file does not name: a worker whose coordinator
  // was killed.
  static bool is_held(const OutFolder& folder);
  // The same, once workers have had a moment to end whose coordinator has ended.
  static bool stays_held(const OutFolder& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  Result<void> hold_folder(const OutFolder& folder);
  int descriptor_ = -1;  // of the file
  int folder_ = -1;      // of the folder itself
};

}  // namespace hyfreedp::runner
