// Checks that the settings of a run's config fit together and fit data of its public sizes. A spec
// is checked when it is planned and by a worker before it begins, so that nothing is refused only
// after an hour of other runs.
#pragma once

#include "datasets/facts.h"
#include "harness/base/result.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::mechanism {

// `sizes`: of the config's dataset. Errors name what does not fit and what would: the privacy plan,
// raw values of private records, releases that need what the data have not, optimizer beside plan
// and controller, average, augmentations, precision, and what the optimizer and
// activation_checkpointing ask of the network.
Result<void> check_run(const trial::TrialConfig& config, const datasets::Sizes& sizes);

// An error where train.average would average no weights of `steps` steps (0: their number is not
// known yet), or stands beside the optimizer's own average or its step after the last.
Result<void> check_average(const trial::TrainingOptions& training, const trial::Named& optimizer,
                           std::int64_t steps);

}  // namespace hyfreedp::mechanism
