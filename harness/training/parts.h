// The parts of a run that a test may replace by one with a fault, to see that an audit or a nightly
// comparison notices. Programs use the parts as they are here.
#pragma once

#include <functional>
#include <memory>

#include "harness/mechanism/release/mechanism.h"
#include "harness/mechanism/run_key.h"
#include "harness/training/gradient.h"
#include "harness/training/private_loss.h"
#include "harness/training/weight_step.h"

namespace hyfreedp::training {

struct Parts {
  std::function<std::unique_ptr<mechanism::Mechanism>(const trial::TrialConfig&, const random::Key&,
                                                      mechanism::Bookings&, mechanism::Observer*)>
      mechanism = [](const auto& config, const auto& run_key, auto& journal, auto* observer) {
        return std::make_unique<mechanism::Mechanism>(config, run_key, journal, observer);
      };
  std::function<decltype(mechanism::run_key)> key = mechanism::run_key;
  std::function<decltype(clipped_gradient_sum)> clipped_sum = clipped_gradient_sum;
  std::function<decltype(bounded_loss_sum)> loss_sum = bounded_loss_sum;
  std::function<decltype(bounded_change_sum)> change_sum = bounded_change_sum;
  std::function<decltype(subtract_scaled)> weight_step = subtract_scaled;
};

}  // namespace hyfreedp::training
