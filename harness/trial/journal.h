// A trial's journal: what happened, in order, durable before it is used
// (DESIGN: an event is durable before its release). One JSON object a line,
// out/journals/TRIAL.jsonl, append-only; each line ends with a running checksum
// ("c": first 16 hex digits of SHA-256 over the previous checksum and the line without it).
//
//   {"type":"start","trial":ID,"attempt":a,"nonce":n,"lost":l,"config":{...},
//    "fingerprint":{...},"unix_time":t}
//   {"type":"book","attempt":a,"first":s,"count":n}            steps [s, s+n) may now be executed; synced
//   {"type":"book-score","attempt":a,"noise_multiplier":x,"split":"private_validation"}      synced
//   {"type":"step","attempt":a,"step":s,"hash":h,"scalars":{"eta":..,...}}   h: of the released tensors of
//   the step;
//                                                             scalars are functions of released
//                                                             values
//   {"type":"metric","step":s,"split":"test","name":"accuracy","value":v,"visibility":"test"}
//   {"type":"finish","state":"finished|failed","kind":k,"message":m,"notes":[..],"seconds":x,
//    "counts":{..}}
//
// Booking ahead keeps the disk off the critical path: the writer syncs a booking of `n` steps while
// earlier ones run. A run that diverged is charged to its end, since where it stopped depends on
// its noisy outputs. After a crash the journal charges every booked step of every attempt, except
// that a replay of an attempt's steps on the same fingerprint, with every recorded hash reproduced,
// is the same release and is not charged again. A validation score is released once an attempt: a
// replay repeats the first value, whatever it computes, since a second value with the same noise
// would be a second release.
//
// A file that ends without a newline is one that a crash cut short: what follows its last whole
// line, zeros that a power cut leaves included, is cut off. Everything else that does not follow
// from the line before was changed after it was written, and the journal is refused. A file cut
// short by hand cannot be told from a crash.
//
// Key and journal of an unseeded run belong together: each attempt draws under a key of its own,
// and its start line and the key file (random/key_file.h) carry one nonce. The start line is synced
// before the key is made. So
//   nonce of the key is that of     the attempt goes on, where the fingerprint is the same
//   the last start line
//   no key, or an earlier           the next attempt begins under a new key
//   attempt's
//   nonce of the key is in no       the journal that it belonged to is lost: every attempt up to
//   start line                      the key's may have been executed to its end, so the next start
//                                   line counts them as "lost", and each is charged whole
// The database's record of a trial is such evidence too: attempts that it knows to have booked
// something, and that the journal does not have, are lost. Seeded runs have neither nonce nor
// "lost": anybody can repeat their noise.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/random/key_file.h"
#include "harness/trial/build.h"
#include "harness/trial/journal_line.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::trial {

// Who may see a stored value. A value without a declaration is confidential: it is left out of
// tables, plots, exports and progress.
enum class Visibility { released, test, confidential };
std::string to_string(Visibility visibility);
Result<Visibility> visibility_from(const std::string& name);

struct StepRecord {
  std::int64_t step = 0;
  std::string hash;
  std::map<std::string, double> scalars;
};

struct MetricRecord {
  std::int64_t step = 0;
  std::string split;  // "test", "private_validation", "private_train"
  std::string name;   // "accuracy" (fraction), "loss" (nats), "score" (noised accuracy)
  double value = 0;
  Visibility visibility = Visibility::confidential;
};

// running: no finish line (in progress or killed)
enum class TrialState { running, finished, failed };
std::string to_string(TrialState state);

// How a run ended. Kinds of failure: "diverged", "killed", "out-of-memory", "invalid-config",
// "missing-data", "device-unavailable", "internal". A finished run whose method did not work has a
// note, such as "fit rejected throughout" or "stuck at d0".
struct Finish {
  TrialState state = TrialState::finished;
  std::string kind;     // of a failure
  std::string message;  // of a failure
  std::vector<std::string> notes;
  double seconds = 0;
  std::map<std::string, std::int64_t> counts;  // e.g. fit decisions: "accepted", "H_nonpositive"
};

struct Journal {
  std::string trial;
  TrialConfig config;
  std::int64_t attempt = 0;      // of the last start
  std::string nonce;             // of the last start; empty: seeded, or of version 0.6 or earlier
  std::set<std::string> nonces;  // of all starts
  std::int64_t lost = 0;         // attempts in journals that were lost, each charged whole
  json::object fingerprint;
  std::vector<Build> builds;          // of all starts, each once, oldest first
  std::vector<StepRecord> steps;      // of the last attempt
  std::vector<MetricRecord> metrics;  // of the last attempt
  std::optional<Finish> finish;
  // Charged events: all attempts, by the rule above.
  std::vector<accounting::Event> executed;
  std::size_t valid_bytes = 0;  // a torn tail lies beyond
};

Result<Journal> read_journal(const std::string& path);

// What is known of an unseeded run's attempts beside its journal.
struct EarlierAttempts {
  std::optional<random::KeyLabel> key = {};  // of the run's key file
  // There is a key file, but of the first format, which names no journal.
  bool has_old_key = false;
  // Attempts that the database knows; 0 where none of them booked anything.
  std::int64_t recorded = 0;
};

class JournalWriter {
 public:
  ~JournalWriter();
  // Opens or makes the journal, cuts a torn tail, and appends a start line, synced. The attempt is
  // the last one when `fingerprint` equals the recorded one but for the commit and the key is that
  // attempt's (a replay: expected_hash() then gives what each step must reproduce), else the next.
  // `earlier` says what else is known of an unseeded run; a seeded one ignores them. An error where
  // the journal was changed, is another trial's, or is held by another process, where the key was
  // made for another trial, and where a key of the first format has lost its journal.
  static Result<std::unique_ptr<JournalWriter>> open(const std::string& path, const TrialConfig& config,
                                                     const json::object& fingerprint,
                                                     const EarlierAttempts& earlier = {},
                                                     SyncCall sync = sync_data);
  std::int64_t attempt() const;
  // That the attempt's key file must carry; empty for a seeded run.
  const std::string& nonce() const;
  // The hash a replayed step must reproduce, where an earlier run of this attempt recorded one.
  std::optional<std::string> expected_hash(std::int64_t step) const;
  // The replay diverged: starts the next attempt (new noise, booked anew). Writes a start line with
  // a new nonce, synced.
  Result<void> begin_next_attempt();

  // Returns once step `step` is durably booked; bookings `ahead` steps in front are made in the
  // background.
  Result<void> ensure_booked(std::int64_t step);
  Result<void> book_score(double noise_multiplier, const std::string& split);
  Result<void> step(const StepRecord& record);
  // Records a metric. Of a released "score", the value that this attempt released first is
  // recorded.
  Result<void> metric(const MetricRecord& record);
  Result<void> finish(const Finish& finish);  // synced

 private:
  struct State;
  explicit JournalWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hyfreedp::trial
