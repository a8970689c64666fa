// A tensor as a file has it, without LibTorch: element type, shape and values. The readers of
// weights and of precomputed features use it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/base/mapped_file.h"

namespace hyfreedp {

enum class ElementType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8, kBool };

// In bytes.
std::int64_t element_size(ElementType type);

struct StoredTensor {
  ElementType type = ElementType::kF32;
  // Empty for a scalar.
  std::vector<std::int64_t> shape = {};
  // The elements in C order (the last index runs fastest), little endian, without gaps. They begin
  // at a multiple of the element size, and are read-only: often they are part of a mapped file.
  SharedBytes values = {};
};

using StoredTensors = std::map<std::string, StoredTensor>;

}  // namespace hyfreedp
