// Linear warm-up, then constant, linear or cosine decay.
//
//   t < W:  lr (t + 1) / W                                     (steps t = 0 .. T-1, W = warmup)
//   else:   lr (final + (1 - final) shape(p)), p = (t - W) / (T - W) in [0, 1)
//   shape:  constant 1, linear 1 - p, cosine (1 + cos(pi p)) / 2
//
// Source: Loshchilov and Hutter 2017 (arXiv:1608.03983) for the cosine.
#pragma once

#include <memory>

#include "optimizers/learning_rate.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<LearningRateController>> make_schedule(const ScheduleOptions& options);

}  // namespace hyfreedp::optimizers
