// Makes what an audit trains on: generated records, some of which are canaries, and the config of a
// run.
//
// Records are Gaussian classes (the dataset `synthetic`) in kOrdinaryFeatures columns, followed by
// one column for each canary, which is 0 in ordinary records. Canary j is zero except for the value
// `size` in its own column, and has a random label:
//   - its clipped gradient has norm about 1 unless the model already predicts it correctly: before
//     clipping the norm is large, and apart from the last bias it touches weights that no other
//     record touches (a Dirac canary, Nasr et al., USENIX Security 2023);
//   - its loss is far above the loss bound as soon as noise has changed those weights, so that it
//     shifts every loss of a probe by the whole bound.
// Both are the largest effects that one record may have, so scores reach the claimed mu.
#pragma once

#include "datasets/dataset.h"
#include "harness/audit/request.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kOrdinaryFeatures = 20;
inline constexpr std::int64_t kAuditClasses = 4;

struct Experiment {
  trial::TrialConfig config;  // repetition 0
  datasets::Dataset dataset;
  std::vector<std::int64_t> canaries;  // rows of the private training split
};

// The experiment of the setting itself.
Result<Experiment> full_experiment(const audit::Request& request);
// The same sampling rate, noise, steps and model with so few records that a batch has one on
// average and many batches are empty; without canaries. None if the setting itself has no more
// records than that, or if q > 1/2, where hardly a batch would be empty.
Result<std::optional<Experiment>> sparse_experiment(const audit::Request& request);
// For a one-run audit: `present[j]` says whether canary j is in the data. One that is not is
// replaced by a record of NaN, which counts as exactly nothing (gradient and loss 0). The `size` of
// its canaries is small, so that the weights show what was learnt of them.
Result<Experiment> one_run_experiment(const audit::Request& request, const std::vector<bool>& present);

}  // namespace hyfreedp::training
