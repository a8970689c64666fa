// The state of trials, from the store, from journals and from workers' last messages; recorded in
// the store. The journal decides: a worker's message only says when to read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/baseline.h"
#include "harness/mechanism/journal.h"
#include "harness/runner/executors/executor.h"
#include "harness/runner/odometer/out_folder.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// True if the journal says that its run is over, so that the next run of the spec does not try it
// again.
bool has_lasting_end(const mechanism::Journal& journal);

struct TrialEnd {
  // True if the machine was at fault (results/store/states.h), so that the next run of the spec
  // tries the trial again.
  bool lost = false;
  baselines::FinishedTrial trial;
  std::string message;  // of a failure
};

// `nothing`: whoever tells of a worker's end saw its whole life without hearing that it was to book
// anything.
enum class Heard { nothing, maybe_more };

class TrialBook {
 public:
  TrialBook(results::Store& store, OutFolder out) : store_(store), out_(std::move(out)) {}

  // The end of the trial in an earlier run, if it had one that is final.
  Result<std::optional<TrialEnd>> earlier(const trial::TrialConfig& config);
  // Takes a trial that had an end which stays from its journal into the store, where it is not
  // there yet. An error where the journal is missing, damaged or without such an end.
  Result<void> rebuild(const std::string& id);
  // The same for a trial whatever its end: if it has no such end, the store gets what journal and
  // key tell that it booked, where that is more than it has. Does nothing if neither can be read.
  Result<void> take_in(const std::string& id);
  // To be called before a worker gets the trial: if it leaves neither journal nor key, this tells
  // that it began. Writes nothing for a trial whose journal is damaged, which no worker continues.
  // Returns how many earlier attempts may have booked something, as the trial is charged here: a
  // process of an earlier command that was just killed may still finish a write until its worker is
  // there.
  Result<std::int64_t> begin(const trial::TrialConfig& config);
  // To be called after its worker was told to stop, and has, or was lost with its coordinator:
  // records what it booked, if it began. A worker that booked nothing as far as its journal shows
  // is charged nothing if nothing was heard of it, else what its run was to release.
  Result<void> interrupt(const trial::TrialConfig& config, Heard heard);
  // The end that the executor announced.
  Result<TrialEnd> record(const trial::TrialConfig& config, const Update& update, Heard heard);

  // To be called before the key file is deleted for good: if the journal of its run is lost, a new
  // one is made that charges it, and the store records the charge. False if the file must stay,
  // since nothing else tells what its run released.
  Result<bool> settle_key(const std::string& path);
  // The number of attempts that may have booked something.
  Result<std::int64_t> attempts(const trial::TrialConfig& config) const;

  Result<results::TrialRecord> stored(const std::string& id) const;

 private:
  // The journal where it is readable.
  std::optional<mechanism::Journal> journal_of(const std::string& id) const;
  Result<void> charge_anew(const results::TrialRecord& known,
                           const std::optional<mechanism::Journal>& journal);
  // Records what is known of a trial that has not ended; `begins`: a worker is to get it. Returns
  // attempts().
  Result<std::int64_t> note(const trial::TrialConfig& config, bool begins, Heard heard);
  Result<TrialEnd> put(const trial::TrialConfig& config, const mechanism::Journal& journal);
  Result<void> charge(results::TrialRecord& record, const mechanism::Journal* journal,
                      Heard heard = Heard::maybe_more) const;
  // Records what journal and key tell of a run that is over beside its record, before they go.
  Result<void> keep_another_making(const results::TrialRecord& over) const;
  // Its key and checkpoints.
  Result<void> delete_secrets_of(const trial::TrialConfig& config) const;
  Result<TrialEnd> end_of(const results::TrialRecord& record, const trial::TrialConfig& config) const;

  results::Store& store_;
  OutFolder out_;
};

}  // namespace hyfreedp::runner
