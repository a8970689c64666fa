// Images that a fixture's make.py computes too, and numbers that it wrote.
#pragma once

#include <ATen/ATen.h>
#include <vector>

#include "harness/base/json.h"
#include "harness/models/graph/model_input.h"

namespace hyfreedp::models {

// [2, 3, side, side] float64, as the fixtures' READMEs say.
inline at::Tensor reference_images(std::int64_t side) {
  const auto k = at::arange(2 * 3 * side * side, at::kDouble);
  return (at::sin(k * 0.37 + at::sin(k * 0.011)) * 2).view({2, 3, side, side});
}

inline ModelInput input_of(std::int64_t side, std::int64_t classes) {
  return {.features = 3 * side * side, .classes = classes, .image = {3, side, side}};
}

// A matrix, from a list of its rows.
inline at::Tensor rows(const json::value& lists) {
  std::vector<double> numbers;
  for (const auto& row : lists.as_array()) {
    for (const auto& number : row.as_array()) numbers.push_back(number.to_number<double>());
  }
  return at::tensor(numbers, at::kDouble).view({static_cast<std::int64_t>(lists.as_array().size()), -1});
}

}  // namespace hyfreedp::models
