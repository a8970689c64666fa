// The boxes of an epsilon figure for each thing that can be priced or calibrated: epsilon over
// steps on the left, over noise on the right.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/epsilon/epsilon_figure.h"
#include "harness/mechanism/probe_split.h"

namespace hyfreedp::cli {

// 1 to T steps of a Poisson-sampled Gaussian, and half to twice its noise. `mark` is drawn in both
// boxes; its x is set here.
std::vector<EpsilonBox> gaussian_boxes(double sample_rate, double noise_multiplier, std::int64_t steps,
                                       accounting::Neighbouring neighbouring, MarkedPoint mark);
std::string gaussian_title(double sample_rate, double delta, accounting::Neighbouring neighbouring);

// All events repeated 1 to 10 times, and the noise of every release scaled by 1/2 to 2; x = 1 is
// the file itself.
std::vector<EpsilonBox> events_boxes(const accounting::Events& events, MarkedPoint mark);

// HyFreeDP's division: 1 to T of its steps, and half to twice the noise of the losses at the same
// sigma_g. Curves price the executed events. `marks` are the cost and, if a mode claims less, the
// claim.
std::vector<EpsilonBox> split_boxes(const mechanism::ProbeSplitRequest& request,
                                    const mechanism::ProbeSplit& split, std::vector<MarkedPoint> marks);

}  // namespace hyfreedp::cli
