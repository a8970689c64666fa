// One learning rate for all steps.
#pragma once

#include <memory>

#include "optimizers/learning_rate.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<LearningRateController>> make_constant(const ConstantOptions& options);

}  // namespace hyfreedp::optimizers
