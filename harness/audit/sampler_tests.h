// Tests that every batch is a Poisson sample: each record is in it by a coin of its own, of
// probability q.
//
//   batch sizes   each is Bin(N, q). A sampler that draws a fixed number without replacement has no
//                 spread; one that skips empty batches has no zeros
//                 (to be seen, batches must be small enough for zeros: q N of a few).
//   inclusions    of a record over all batches: Bin(batches, q). Shuffled epochs have no spread;
//                 records that are favoured, or batches that are used again, too much.
//   pairs         records i and i + 1 in one batch: Bin(batches, q^2). Records that come in chunks
//                 come together.
//
// Exact binomial tails only: of the total, of the number of values in each bin and below each bin's
// edge, and of the extremes. Where a bin is expected to hold fewer than 5 values it is pooled with
// its neighbours.
#pragma once

#include "harness/audit/plan.h"

namespace hyfreedp::audit {

// An error where the counts contradict each other, so that no list of batches can have them.
Result<void> check_samplers(const std::vector<SamplerCounts>& samplers);
void plan_sampler_tests(const std::vector<SamplerCounts>& samplers, Plan& plan);

}  // namespace hyfreedp::audit
