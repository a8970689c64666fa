// Whether what a run without noise says of its training examples may be shown.
#pragma once

#include <string>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

// Facts::public_train; an unknown dataset is private.
inline bool training_split_is_public(const std::string& dataset) {
  const auto facts = find_dataset(dataset);
  return facts && (**facts).public_train;
}

// Whether what a run says of its training examples (losses, norms, step sizes) is a release, or nobody's secret.
inline bool training_values_are_released(bool is_private, const std::string& dataset) {
  return is_private || training_split_is_public(dataset);
}

}  // namespace hyfreedp::datasets
