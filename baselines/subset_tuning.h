// Tuning on a subset: Koskela & Kulkarni, NeurIPS 2023 (arXiv:2301.11989), the variant that trains
// on the rest of the data.
//
//   1. Each record is in the tuning part with probability `share`, by a public coin
//      (harness/random/partition.h).
//   2. Every candidate rate is run on the tuning part, at the panel's sample rate and length; each
//      is scored by its validation accuracy with Gaussian noise of `score_noise` counts.
//   3. The best-scored rate is run on the rest, at the panel's sample rate and length, and
//      reported.
// Price: a record is in one part only, so the row costs the larger of (a) the composition of the
// tuning runs and (b) the final run, each calibrated to the whole epsilon by PLD, and of the scores
// on the validation split. Tuning costs data rather than epsilon.
//
// Two things differ from the paper, and both make the price here simpler and larger. The paper
// selects among a random number of runs; here all candidates are composed. The paper's Renyi bound
// weighs the costs of both parts by the coin (about q of one and 1 - q of the other, in delta);
// here the larger is taken. The rate is carried over unchanged: a part's batch is the same share of
// the part and the divisor is that batch, so a step of the mean gradient means the same on both.
// `share: 0.5` tunes on half of the data.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline subset_tuning();

}  // namespace hyfreedp::baselines
