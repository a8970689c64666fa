// A summary of a batch's gradient norms, for trials on public data
// (trial::Evaluation::gradient_norms).
//
// The values carry no noise. Spec and worker refuse the option unless the training split is
// declared public.
//   norm_q05 .. norm_q95, norm_max   quantiles of the finite norms before clipping, interpolated
//                                    linearly between samples
//   clipped_fraction                 fraction of the samples that clipping shortened; a norm that
//                                    is not finite counts
// An empty batch gives nothing; a batch without finite norms gives no quantiles.
#pragma once

#include <map>
#include <string>

#include "harness/training/gradient.h"

namespace hyfreedp::training {

// Adds the summary to the scalars of a step.
void add_norm_summary(const SampleClipping& seen, std::map<std::string, double>& scalars);

}  // namespace hyfreedp::training
