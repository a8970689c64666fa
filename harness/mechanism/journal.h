// A trial's journal: an append-only file of what its runs booked, released and measured. It says
// which releases are charged, and lets an interrupted run continue. An event is on disk before its
// release is used.
//
// The file is ROOT/journals/TRIAL.jsonl, with one JSON object a line. Each line ends with a running
// checksum ("c": the first 16 hexadecimal digits of the SHA-256 of the previous checksum and the
// line without it). The types of lines are
//   {"type":"start","trial":ID,"attempt":a,"from":s,"nonce":n,"lost":l,"lost_nonce":m,
//    "config":{...},"fingerprint":{...},"unix_time":t}
//       A run of attempt a begins with step s (0 if absent), from a checkpoint of the state before
//       it; synced. The lines of steps before s, and the metrics of them, stay the run's.
//       "lost": attempts whose journal was lost, charged here; "lost_nonce": of the last of them,
//       where its key was still there.
//   {"type":"book","attempt":a,"first":s,"count":n}
//       Steps [s, s+n) may be executed from now on; synced before any of them is.
//   {"type":"book-score","attempt":a,"noise_multiplier":x,"split":"private_validation"}
//       A noised validation score may be released; synced before it is.
//   {"type":"step","attempt":a,"step":s,"hash":h,"scalars":{"eta":..,...}}
//       Step s was executed. h is the hash of what it released; scalars are
//       functions of released values.
//   {"type":"metric","step":s,"split":"test","name":"accuracy","value":v,"visibility":"test"}
//       A measured value, and who may see it (Visibility).
//   {"type":"finish","state":"finished|failed","kind":k,"message":m,"notes":[..],"seconds":x,
//    "peak_bytes":n,"device_peak_bytes":n,"counts":{..},
//    "released":{PURPOSE:[[first,every,count],..],..}}
//       The run ended; synced. What is empty or 0 is left out. "released" is what the steps since
//       step 0 executed (executed.h), in this attempt or an earlier one that it goes on from; a
//       journal with a release that is not in the plan of its config, or made twice at a step, is
//       refused. Absent before version 0.9.
//
// Charge. The executed events (Journal::executed) are, for each attempt, which begins with the step
// "from" of its first start line:
//   it diverged       all steps from there, and the score of the config, because where it stopped
//                     depends on its noisy releases; also if it is run again
//   it finished       the steps that have a step line, and the booked scores
//   the next attempt  all booked steps and scores: at most 192 steps and the interval between two
//   that booked any-  checkpoints are then charged twice. How many these are depends on when it was
//   thing goes on     stopped, and no theorem is claimed for that
//   from a state of it
//   anything else     all steps from there and the score of the config, if any was booked: whoever
//                     stopped it may have seen what it released
//   it was lost       all events of the config
// Only the last attempt can be one that finished: its last run has a finish line. After a crash,
// the same attempt can be run again with the same noise, on the same program, machine and settings,
// from a checkpoint or from its first step. While every recorded hash is reproduced, these are the
// same releases and are not charged again. A validation score is released once in an attempt: a
// repeated run reports the first value, because another value with the same noise would be a second
// release.
//
// Checkpoints. A state of the run after s steps belongs to a place in the journal, the checksum of
// its last line then (ResumePoint). A run may go on from a state whose place is in the journal and
// whose steps are still the run's: no later start line begins before step s. Everything that the
// state depends on is then booked here. The attempt is the same one where the machine, the settings
// and the key are, and where it began no later than with step s; otherwise the next attempt begins
// with step s, under new noise, and is charged the steps from there. The same attempt goes on only
// from a state after which the journal has the line of step s, or after which nothing is released:
// the first step that it does must reproduce a hash, so that two copies of a state whose sums are
// computed differently cannot release both under the same noise. A run that stops therefore does
// one step more than its state has.
//
// Damage. If the file does not end with a newline, a crash may have cut it short: an incomplete
// last line is removed, including zeros after a power failure. Any other line whose checksum does
// not follow from the line before was changed after it was written, and the journal is refused. A
// file that was shortened by hand cannot be told from one that a crash cut short.
//
// Keys. Each attempt of an unseeded run draws its noise under its own key. The start line and the
// key file (random/key_file.h) have the same nonce, and the start line is synced before the key is
// made. When an unseeded run starts again:
//   the key's nonce is in the last     the attempt continues, if the fingerprint is the same
//   start line
//   there is no key, or its nonce is   a new attempt begins, under a new key
//   in an earlier start line
//   the key's nonce is in no start     the journal that had it is lost. Every attempt up to the
//   line                               key's may have been executed completely, so the next start
//                                      line counts them as "lost"
// Attempts that the database knows to have booked something, and that are not in the journal, are
// lost, too.
//
// The noise of a seeded run comes from its seed and the number of the attempt, and can be repeated:
// where its journal is lost, it begins again with attempt 0, which counts as the same release: on
// whatever machine, its nonce is kSeededNonce. A further attempt depends on where and why the one
// before it ended. It gets a nonce of its own, as of an unseeded run, and a number that none had,
// as far as journal, key and database tell. The key file tells which attempt began; the key in it
// is not used. Where the journal lacks that attempt, the next start line counts those from 1 to it
// as "lost".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/accounting/event.h"
#include "harness/mechanism/bookings.h"
#include "harness/mechanism/journal_line.h"
#include "harness/random/key_file.h"
#include "harness/trial/build.h"
#include "harness/trial/run_records.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::mechanism {

// The nonce of the first attempt of a seeded run, which its start line does not have.
inline constexpr const char* kSeededNonce = "attempt 0";

// The contents of a journal.
struct Journal {
  std::string trial;
  trial::TrialConfig config;
  std::int64_t attempt = 0;  // of the last start line
  std::string nonce;         // of the last start line
  // of all start lines, and those of lost attempts in them
  std::set<std::string> nonces;
  // attempts in journals that were lost, each charged whole
  std::int64_t lost = 0;
  std::int64_t starts = 0;   // start lines
  json::object fingerprint;  // of the last start line
  // The marks of the code that did the steps, as in a fingerprint (harness/trial/code_marks.h);
  // "several" where a run went on under other code.
  json::object code;
  std::vector<trial::Build> builds;  // of all start lines, each once, oldest first
  // The last run's steps, and before them those of earlier runs that it went on from.
  std::vector<trial::StepRecord> steps;
  std::vector<trial::MetricRecord> metrics;
  // True if earlier runs did steps that the last one did not go on from; the splits measured there.
  bool has_undone_steps = false;
  std::set<std::string> undone_splits;
  std::optional<trial::Finish> finish;
  // The charge of each attempt, by the rules above; lost ones first.
  std::vector<trial::ChargedAttempt> charged;
  std::vector<accounting::Event> executed;  // the charged events of all attempts
  std::size_t valid_bytes = 0;              // length of the file without an incomplete last line
};

// Reads a journal. Returns an error if the file cannot be read, was changed after it was written,
// has no complete start line, or was written by a newer version.
Result<Journal> read_journal(const std::string& path);

// The record of a run's attempts in the key file and in the database.
struct EarlierAttempts {
  std::optional<random::KeyLabel> key = {};  // label of the run's key file
  // True if there is a key file of the first format, which has no nonce.
  bool has_old_key = false;
  std::int64_t recorded = 0;  // number of attempts that may have booked something, as far as known
};

// A state that a run can go on from, by its place in the journal.
struct ResumePoint {
  std::int64_t step = 0;  // the first step to be done
  // Checksum of the journal's last line at that state; empty: the beginning.
  std::string place = {};
  json::object released = {};  // what steps [0, step) executed, as the finish line has it
};

// Appends to a journal. At most one process holds a journal open for writing.
class JournalWriter : public Bookings {
 public:
  ~JournalWriter() override;
  // Opens or makes the journal, removes an incomplete last line, and appends a start line, synced.
  // The run goes on from the first of `points` that belongs to the journal, by the rules above; if
  // there is none, from step 0. The attempt is
  //   - the last one, if `fingerprint` equals the recorded one except for the commit, the key, if
  //     the run is unseeded, is that attempt's, and it began no later than the point. The run then
  //     repeats that attempt, and expected_hash() gives what each step must reproduce;
  //   - otherwise the next. If the last attempt of an unseeded run booked nothing, its number is
  //     used again.
  // A seeded run without a journal begins with attempt 0. `sync` is for tests that replace the
  // disk. Returns an error if the journal was changed after it was written, is another trial's, or
  // is held by another process; if the key was made for another trial; and if there is a key of the
  // first format but no journal.
  static Result<std::unique_ptr<JournalWriter>> open(const std::string& path,
                                                     const trial::TrialConfig& config,
                                                     const json::object& fingerprint,
                                                     const EarlierAttempts& earlier = {},
                                                     const std::vector<ResumePoint>& points = {},
                                                     SyncCall sync = sync_data);
  // Calls `tell` once, before anything is booked in this run.
  void tell_before_booking(std::function<void()> tell);
  // The state that the present run goes on from; step 0 and no place for the beginning.
  const ResumePoint& resumed_from() const;
  std::int64_t attempt() const override;
  // The nonce that the attempt's key file must have.
  const std::string& nonce() const;
  std::optional<std::string> expected_hash(std::int64_t step) const override;
  // The present place, of a state after `step` steps. Everything before it is synced first, so that
  // a checkpoint is never ahead of its journal.
  Result<ResumePoint> point(std::int64_t step);
  // Begins the next attempt, with new noise that is booked anew, because a repeated step did not
  // reproduce its hash. It goes on from the first of `points` that belongs to the journal, as in
  // open(). Appends a start line with a new nonce, synced.
  Result<void> begin_next_attempt(const std::vector<ResumePoint>& points = {});

  // Writes bookings of 128 steps, up to 192 steps in advance, and syncs them in the background, so
  // that training seldom waits for the disk.
  Result<void> ensure_booked(std::int64_t step) override;
  Result<void> book_score(double noise_multiplier, const std::string& split) override;
  Result<void> step(const trial::StepRecord& record, const std::set<std::string>& made) override;
  // Records a metric; not synced. If this attempt released a "score" of the split before, that
  // value is recorded instead.
  Result<void> metric(const trial::MetricRecord& record);
  // Records the end of the run; synced. Returns an error if the journal was removed or replaced
  // meanwhile: the run's key must then stay, because nothing else tells what the run released.
  Result<void> finish(const trial::Finish& finish);

 private:
  struct State;
  explicit JournalWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hyfreedp::mechanism
