// A batch's gradient norms in a few numbers, for trials on public data (trial::Evaluation::gradient_norms).
//
// Raw: whoever reads them reads the samples. Spec and worker refuse them where the training split is not declared public.
//   norm_q05 .. norm_q95, norm_max   quantiles of the norms before clipping, linear between samples; finite norms only
//   clipped_fraction                 of the samples that clipping shrank; one that is not finite counts
// Nothing of an empty batch, no quantiles of one without finite norms.
#pragma once

#include <map>
#include <string>

#include "harness/training/gradient.h"

namespace hyfreedp::training {

void add_norm_summary(const SampleClipping& seen, std::map<std::string, double>& scalars);

}  // namespace hyfreedp::training
