// Whether statistics of the training examples of a run without noise may be shown.
#pragma once

#include <string>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

// The value of Facts::public_train. An unknown dataset counts as private.
inline bool training_split_is_public(const std::string& dataset) {
  const auto facts = find_dataset(dataset);
  return facts && (**facts).public_train;
}

// Whether values computed from training examples (losses, norms, step sizes) may be shown: they are
// released with noise, or the training split is public.
inline bool training_values_are_released(bool is_private, const std::string& dataset) {
  return is_private || training_split_is_public(dataset);
}

}  // namespace hyfreedp::datasets
