#include "harness/models/layers/activation_records.h"

#include <algorithm>

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

// One number that stands for all, as the network keeps a tensor whose sizes alone are read.
bool is_one_number(const Tensor& recorded) {
  const auto strides = recorded.strides();
  return recorded.numel() > 1 && std::all_of(strides.begin(), strides.end(), [](auto s) { return s == 0; });
}

Tensor converted(const Tensor& recorded, torch::ScalarType type) {
  if (!recorded.defined() || !recorded.is_floating_point()) return recorded;
  if (!is_one_number(recorded)) return recorded.to(type);
  return recorded.as_strided({1}, {1}).to(type).expand(recorded.sizes());
}

}  // namespace

Tensors in_type(const Tensors& tensors, torch::ScalarType type) {
  Tensors found;
  for (const auto& one : tensors) found.push_back(converted(one, type));
  return found;
}

std::vector<ActivationRecord> by_copies(const std::vector<ActivationRecord>& records, std::int64_t copies) {
  std::vector<ActivationRecord> parts;
  for (const auto& record : records) {
    for (std::int64_t m = 0; m < copies; ++m) {
      parts.push_back({.inputs = parts_of(record.inputs, copies, m),
                       .output = part_of(record.output, copies, m),
                       .saved = parts_of(record.saved, copies, m),
                       .output_gradient = part_of(record.output_gradient, copies, m)});
    }
  }
  return parts;
}

std::vector<ActivationRecord> in_type(std::span<const ActivationRecord> records, torch::ScalarType type) {
  std::vector<ActivationRecord> found;
  for (const auto& record : records) {
    found.push_back({.inputs = in_type(record.inputs, type),
                     .output = record.output,
                     .saved = in_type(record.saved, type),
                     .output_gradient = converted(record.output_gradient, type)});
  }
  return found;
}

}  // namespace hyfreedp::models
