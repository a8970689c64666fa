// Computes what one trial is charged, from all that is known of it: its journal, its key file, the
// database's record.
//
//   journal    charges each of its attempts by how it ended, and whole those whose journal was lost
//              before (mechanism/journal.h)
//   key        one whose nonce the journal has not, or that has no journal: a journal was lost
//              since. Every attempt up to the key's is charged whole
//   recorded   what the database took from journal and key once, by attempt. An attempt that they
//              still name is charged the larger of both. One that they do not name is added,
//              unless they charge a lost attempt for it
//   begun      the database knows that a worker was given the trial, and not how that ended. A
//              worker writes its start line before it makes a key, and makes the key before it
//              releases anything. So nothing more is charged where the journal has a further start
//              line, and where it has no line yet and there is no key. Where the key is the
//              journal's, the journal may be an older copy, but no other key was used: the attempt
//              of that key is charged whole. Otherwise one more attempt is charged whole
//
// The first attempt of a seeded run has the same name wherever it is made
// (mechanism::kSeededNonce): made again it counts as the same release, charged the most that
// anything tells of it.
//
// An attempt that began to release, did not come to its end and is not gone on from is charged as
// planned, whoever stopped it: its user, a limit of time or memory, a machine. The journal says so;
// as_planned() says it of what earlier versions recorded. The user saw what the attempt had
// released, and the price of the steps up to a stop that was chosen so is no bound: a guarantee for
// a number of steps that follows from outputs holds for the most that there could have been. A
// tighter price needs a privacy filter (Rogers, Roth, Ullman, Vadhan: Privacy Odometers and
// Filters, 2016), which this program has not.
//
// Who puts back older copies of a journal and of its key, but not of the database, hides what was
// released in between under another key.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/mechanism/journal.h"
#include "harness/random/key_file.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/trial/trial_config.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// True if there is no such journal, or one that has no whole line: it tells of no release.
bool is_missing_journal(const std::string& path);

// The label of a run's key file; none where there is no file or it is of the first format, which
// names no journal.
Result<std::optional<random::KeyLabel>> key_label(const std::string& path);

// All that is known of a trial. `journal` and `recorded` may be null.
struct KnownOfTrial {
  const mechanism::Journal* journal = nullptr;
  std::optional<random::KeyLabel> key;
  const results::TrialRecord* recorded = nullptr;
  // True if its worker has just ended, whoever asks saw it begin, and it did not tell that it was
  // to book anything (trial/worker_protocol.h). Files do not show that: anybody can cut them.
  bool released_nothing = false;
};

// True if the attempt is named by its nonce: of one whose journal was lost it may not be known.
bool has_nonce(const trial::ChargedAttempt& attempt);
std::ptrdiff_t count_nameless(const std::vector<trial::ChargedAttempt>& attempts);

// True if some of the attempts released anything and are none of `than`: the run was then made
// again, or in another folder.
bool has_others(const std::vector<trial::ChargedAttempt>& attempts,
                const std::vector<trial::ChargedAttempt>& than);

// Raises an attempt to what is told of it elsewhere. The first attempt of a seeded run may be told
// of by another making, which did not go on from it: then also to all that it was yet to release
// there.
void raise_charge(trial::ChargedAttempt& attempt, const trial::ChargedAttempt& told,
                  bool is_of_another_making);

// Adds the attempts of a record, the larger charge of those that are in both.
void add_recorded(std::vector<trial::ChargedAttempt>& charged, const results::TrialRecord& recorded);

// The trial's attempts, charged. An error where the config in the label or in the record is none.
Result<std::vector<trial::ChargedAttempt>> charge_of(const KnownOfTrial& known);

// The attempts at a run that the database has as over. If the run is seeded and there is a key, it
// is made again, after an older database was put back: then also what its journal and key tell.
Result<std::vector<trial::ChargedAttempt>> charge_of_ended(const OutFolder& out,
                                                           const results::TrialRecord& record);

// The attempts of `all` that `run` is not charged. Of those without a name each stands for one.
std::vector<trial::ChargedAttempt> beside(const std::vector<trial::ChargedAttempt>& run,
                                          const std::vector<trial::ChargedAttempt>& all);

// The spec of a row, also of an earlier release, that lists the run; empty where none does.
Result<std::string> spec_of_run(const results::Store& store, const std::string& run);

// Records attempts at a run of `spec` that are charged beside all that the database has of it. Each
// is charged once, however often it is recorded; those without a name once for each list that they
// are in.
Result<void> put_charge(results::Store& store, const std::string& spec, const results::TrialRecord& run,
                        const std::vector<trial::ChargedAttempt>& attempts);

// Returns what a run of `config` is charged that did not come to its end: at least all that it was
// to release, if it `booked` anything.
std::vector<accounting::Event> as_planned(const trial::TrialConfig& config,
                                          std::vector<accounting::Event> booked);
// The same of a recorded run; of one that finished what it executed.
Result<std::vector<accounting::Event>> charged_events(const results::TrialRecord& record);

}  // namespace hyfreedp::runner
