#include "harness/models/uses.h"

#include "harness/base/result.h"

namespace hyfreedp::models {
namespace {

using torch::Tensor;

Tensor part_of(const Tensor& recorded, std::int64_t copies, std::int64_t index) {
  if (!recorded.defined()) return recorded;
  HYFREEDP_CHECK(recorded.size(0) % copies == 0, "a recorded tensor has a row for each copy of a sample");
  const auto samples = recorded.size(0) / copies;
  return recorded.narrow(0, index * samples, samples);
}

Tensors parts_of(const Tensors& recorded, std::int64_t copies, std::int64_t index) {
  Tensors parts;
  for (const auto& one : recorded) parts.push_back(part_of(one, copies, index));
  return parts;
}

Tensor converted(const Tensor& recorded, torch::ScalarType type) {
  return recorded.defined() && recorded.is_floating_point() ? recorded.to(type) : recorded;
}

Tensors converted(const Tensors& recorded, torch::ScalarType type) {
  Tensors found;
  for (const auto& one : recorded) found.push_back(converted(one, type));
  return found;
}

}  // namespace

std::vector<Use> by_copies(const std::vector<Use>& uses, std::int64_t copies) {
  std::vector<Use> parts;
  for (const auto& use : uses) {
    for (std::int64_t m = 0; m < copies; ++m) {
      parts.push_back({.inputs = parts_of(use.inputs, copies, m),
                       .output = part_of(use.output, copies, m),
                       .saved = parts_of(use.saved, copies, m),
                       .output_gradient = part_of(use.output_gradient, copies, m),
                       .instantiated = {}});
    }
  }
  return parts;
}

std::vector<Use> in_type(std::span<const Use> uses, torch::ScalarType type) {
  std::vector<Use> found;
  for (const auto& use : uses) {
    found.push_back({.inputs = converted(use.inputs, type),
                     .output = use.output,
                     .saved = converted(use.saved, type),
                     .output_gradient = converted(use.output_gradient, type),
                     .instantiated = use.instantiated});
  }
  return found;
}

}  // namespace hyfreedp::models
