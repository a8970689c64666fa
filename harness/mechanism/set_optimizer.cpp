#include "harness/mechanism/set_optimizer.h"

#include <utility>

#include "optimizers/facts.h"

namespace hyfreedp::mechanism {

void set_optimizer(trial::TrialConfig& config, trial::Named optimizer) {
  const auto facts = optimizers::find_optimizer(optimizer.name);
  const bool of_loss_changes = facts && (**facts).of_loss_changes;
  config.privacy.released = of_loss_changes ? trial::Released::loss_change : trial::Released::gradient;
  config.optimizer = std::move(optimizer);
}

}  // namespace hyfreedp::mechanism
