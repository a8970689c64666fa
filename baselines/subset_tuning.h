// Tuning on a subset: Koskela & Kulkarni, NeurIPS 2023 (arXiv:2301.11989), the variant that trains on the rest of the data.
//
//   1. Each record is in the tuning part with probability `share`, by a public coin (harness/random/partition.h).
//   2. Every candidate rate is run on the tuning part, at the panel's sample rate and length; each is scored by its
//      validation accuracy with Gaussian noise of `score_noise` counts.
//   3. The best-scored rate is run on the rest, at the panel's sample rate and length, and reported.
// Price: a record is in one part, so the row costs the larger of the tuning runs' composition and the final run, each
// calibrated to the whole epsilon (by PLD), and of the scores on the validation split. What tuning costs is data.
// Not theirs: they select among a random number of runs where all candidates are composed here; and their Renyi bound weighs
// both parts' costs by the coin (about q of one and 1 - q of the other, in delta), where the larger is taken here. Both make
// the price here the simpler and the larger one. The rate is carried over as it is: the batch of a part is the same share of
// it and the divisor is that batch, so a step of the mean gradient means the same on both.
// `share: 0.5` is tuning on half the data.
#pragma once

#include "baselines/baseline.h"

namespace hyfreedp::baselines {

Baseline subset_tuning();

}  // namespace hyfreedp::baselines
