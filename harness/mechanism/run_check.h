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
// and controller, average, augmentations, precision.
Result<void> check_run(const trial::TrialConfig& config, const datasets::Sizes& sizes);

}  // namespace hyfreedp::mechanism
