// A compile-time switch by which the tests of the audit plant bugs in the training path, one at a
// time.
//
// Without HYFREEDP_TEST_SEAM `planted` is a constant false: the compiler removes every branch that
// asks it, and the program contains neither the bugs nor a way to switch one on. Only the tests'
// own copy of the path (target hyfreedp_training_planted) is built with it. What each bug does is
// written where `planted` is asked.
#pragma once

#ifdef HYFREEDP_TEST_SEAM
#include <optional>
#endif

namespace hyfreedp {

enum class Bug {
  noise_two_thirds,       // gradient noise of 2/3 the claimed scale
  unclipped_layer,        // the last tensor of the layout is summed unclipped
  probes_booked_apart,    // losses of the gradient's batch are booked as a batch of their own
  realised_divisor,       // the sum is divided by the number of samples drawn
  noise_reused,           // steps 2 k and 2 k + 1 get the same noise
  empty_batches_skipped,  // a batch of nobody releases nothing
  shared_key,             // every run has one key
  losses_not_clamped,     // the released loss sum has no bound
  without_replacement,    // batches of one size, claimed as Poisson samples
  noise_tenth_more,       // gradient noise of 1.1 times the claimed scale
  eta_fifth_more,         // every step is 1.2 times as long as it should be
  layer_frozen,           // the first tensor of the layout stands still
  step_fifth_slower,      // every step takes 1.2 times as long as it does
};

#ifdef HYFREEDP_TEST_SEAM
inline std::optional<Bug>& planted_bug() {
  static std::optional<Bug> bug;
  return bug;
}
// Must not be called while a run is in progress.
inline void plant(std::optional<Bug> bug) { planted_bug() = bug; }
inline bool planted(Bug bug) { return planted_bug() == bug; }
#else
constexpr bool planted(Bug) { return false; }
#endif

}  // namespace hyfreedp
