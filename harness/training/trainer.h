// One training run: from a resolved config, a dataset, a key and a journal to a finish line.
//
// If the plan has a feature mean, it is released before step 0 and subtracted from the features of
// all splits. Its event is booked with step 0, and its bytes are part of step 0's hash.
//
// Step t, in this order:
//   1. rows from the keyed stream; per-sample losses and the clipped sum of gradients
//   2. the mechanism releases the mean of the batch with noise: the step is durably booked before
//      anything below uses it
//   3. optimizer.advance(gradient) -> direction u; if the rule works element by element, 2 and 3
//      are one pass by blocks
//      With DP-ZO (optimizers/dp_zo.h) 1 are the losses at w + phi z and w - phi z, 2 their change,
//      one number, and 3 takes z, as long as that says, for the gradient
//   4. if the controller asks: private losses at w - x u, on the gradient's batch
//      (whose loss at w is reused) or on a Poisson batch of their own -> controller.observe
//   5. adaptive clipping releases its noised count, from which the next step's threshold follows
//   6. hash of all that was released; in a replay it must equal the recorded one, else the run
//      restarts from step 0 as the next attempt, whose number is part of every address of every
//      stream
//   7. w <- w - eta u (eta = 1 if the optimizer owns its step size); the average of the weights, if
//      there is one
// After the last step comes the optimizer's free step, if it has one, which releases nothing, then
// the evaluation, on the test split and on those of config.ood_test with the same weights, and
// then, before the finish line, the weights are written to a folder if they are to be kept.
//
// Everything is a function of (config, dataset, key, attempt), so a killed run is resumed by
// running it again, from the checkpoint that the journal names, or from step 0. Outcomes are finish
// lines and not exceptions: "diverged", "out-of-memory", "device-unavailable", "invalid-config",
// "internal". Called by harness/training/worker and harness/training/audit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "harness/mechanism/journal.h"
#include "harness/mechanism/release/observer.h"
#include "harness/random/stream.h"
#include "harness/training/checkpoint.h"
#include "harness/training/parts.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

using Scalars = std::map<std::string, double>;

struct TrainingJob {
  const trial::TrialConfig& config;
  const datasets::Dataset& dataset;
  random::Key key;  // of the journal's present attempt
  mechanism::JournalWriter& journal;
  // Called when the journal has begun another attempt: the key of that one. Absent: `key`, as in a
  // seeded run, whose attempts differ in their addresses alone.
  std::function<Result<random::Key>()> next_key = {};
  // Called between steps and between microbatches. If it returns true, training stops without a
  // finish line, and the journal allows the run to continue later. A step that was begun is given
  // up as long as nothing of it was released, and completed otherwise. Whoever asks is seen to make
  // progress: it is called between the microbatches of probes, too, where the answer is not used.
  std::function<bool()> stop_requested = [] { return false; };
  // Called after each step, with released values only.
  std::function<void(std::int64_t step, const Scalars& scalars)> progress = [](std::int64_t, const Scalars&) {
  };
  mechanism::Observer* observer = nullptr;  // of an audit; null otherwise
  // The writer of checkpoints, at their interval and when training stops; null: none are written.
  // The journal was opened with the points of those that are there.
  Checkpoints* checkpoints = nullptr;
  // The folder for the weights of a finished run (kept_weights.h); empty: they are not kept. It is
  // not part of the run: it changes nothing that is computed or recorded, and a folder that cannot
  // be written does not fail the run.
  std::string weights_folder = {};
  Parts parts = {};  // tests replace them
  // The test splits of config.ood_test, in its order.
  std::vector<datasets::SplitData> ood_test = {};
};

struct TrainingEnd {
  bool stopped = false;
  trial::Finish finish;  // as written to the journal; meaningless when stopped
  std::string weights_problem =
      {};  // why the weights of a finished run were not kept; empty if there was no problem
};

// Trains. An error means that the journal itself could not be written.
Result<TrainingEnd> train(const TrainingJob& job);

}  // namespace hyfreedp::training
