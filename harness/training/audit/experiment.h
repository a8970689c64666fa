// What an audit trains: generated records, canaries among them, and the config of a run.
//
// Records are Gaussian classes (the dataset `synthetic`) in kOrdinaryFeatures columns, followed by one column for each
// canary, which ordinary records leave at 0. Canary j is nothing but `size` in its own column, under a random label:
//   - its clipped gradient has norm about 1 wherever the model does not already have it right: it is long before
//     clipping, and apart from the last bias it touches weights that no other record does (a Dirac canary, Nasr et al.,
//     USENIX Security 2023);
//   - its loss is far above the loss bound as soon as noise has moved those weights, so that it shifts every loss of a
//     probe by the whole bound.
// Both are the most that one record may do, so scores reach the claimed mu.
#pragma once

#include "datasets/dataset.h"
#include "harness/training/audit/request.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

inline constexpr std::int64_t kOrdinaryFeatures = 20;
inline constexpr std::int64_t kAuditClasses = 4;

struct Experiment {
  trial::TrialConfig config;  // repetition 0
  datasets::Dataset dataset;
  std::vector<std::int64_t> canaries;  // rows of the private training split
};

// Of the setting itself.
Result<Experiment> full_experiment(const AuditRequest& request);
// The same sampling rate, noise, steps and model over so few records that batches hold one on average and many are empty;
// without canaries. Absent where the setting itself has no more records than that, or q > 1/2: hardly a batch would be empty.
Result<std::optional<Experiment>> sparse_experiment(const AuditRequest& request);
// For a one-run audit: `present[j]` says whether canary j is in the data; one that is not is a record of NaN, which counts
// as exactly nothing (gradient and loss 0). `size` of its canaries is small, so that what is learnt of them shows.
Result<Experiment> one_run_experiment(const AuditRequest& request, const std::vector<bool>& present);

}  // namespace hyfreedp::training
