// The records that a run leaves: the values of its steps, what was measured, and how it ended. The
// journal (harness/mechanism/journal.h) holds them as lines, the database as rows.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/accounting/event.h"
#include "harness/base/describe.h"

namespace hyfreedp::trial {

// The readers who may see a stored value. A value without a declaration is confidential: it is left
// out of tables, plots, exports and progress.
enum class Visibility { released, test, confidential };
BOOST_DESCRIBE_ENUM(Visibility, released, test, confidential)

// The releases of an executed step.
struct StepRecord {
  std::int64_t step = 0;  // from 0
  std::string hash;
  std::map<std::string, double> scalars;
};
BOOST_DESCRIBE_STRUCT(StepRecord, (), (step, hash, scalars))

// A measured value.
struct MetricRecord {
  std::int64_t step = 0;
  std::string split;  // "test", "ood_test:ID", "private_validation", "private_train"
  // "accuracy", "macro-accuracy", "auc", "f1" (fractions), "mcc", "loss" (nats), "perplexity",
  // "score" (noised accuracy), and those of datasets/scores/scores.h, with - for _
  std::string name;
  double value = 0;
  Visibility visibility = Visibility::confidential;

  // Shown in percent.
  bool is_fraction() const {
    return name != "loss" && name != "perplexity" && name != "nist-mteval13a" && name != "cider-coco-13a" &&
           name != "mcc";
  }
};
BOOST_DESCRIBE_STRUCT(MetricRecord, (), (step, split, name, value, visibility))

// A trial without a finish line, in progress or killed, is running.
enum class TrialState { running, finished, failed };
BOOST_DESCRIBE_ENUM(TrialState, running, finished, failed)

// The end of a run. Kinds of failure: "diverged", "invalid-config", and those of the machine, such
// as "killed", "hung" or "out-of-memory" (results/store/states.h). A finished run that did not work
// has a note, such as "fit rejected throughout" or "stuck at d0".
struct Finish {
  TrialState state = TrialState::finished;
  std::string kind;     // of a failure; empty otherwise
  std::string message;  // of a failure; empty otherwise
  std::vector<std::string> notes;
  double seconds = 0;  // wall-clock time
  // The largest memory that the run took (harness/training/peak_memory.h); 0: not recorded, or no
  // GPU.
  std::int64_t peak_bytes = 0;
  std::int64_t device_peak_bytes = 0;
  std::map<std::string, std::int64_t> counts;  // e.g. fit decisions: "accepted", "H_nonpositive"

  static constexpr std::array kLeftOut = {"kind",       "message",           "notes", "seconds",
                                          "peak_bytes", "device_peak_bytes", "counts"};
};
BOOST_DESCRIBE_STRUCT(Finish, (),
                      (state, kind, message, notes, seconds, peak_bytes, device_peak_bytes, counts))

// The charge of one attempt of a trial.
struct ChargedAttempt {
  // Its nonce (mechanism/journal.h); empty for a lost attempt of which nothing is known.
  std::string name;
  std::vector<accounting::Event> events;  // what it executed, or booked
  // The events that it was yet to release, charged beside that while no other attempt goes on from
  // it.
  std::vector<accounting::Event> rest = {};
};
// Both, of all attempts.
std::vector<accounting::Event> events_of(const std::vector<ChargedAttempt>& attempts);

}  // namespace hyfreedp::trial
