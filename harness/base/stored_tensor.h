// A tensor as a file has it, without LibTorch: element type, shape and values. The readers of
// weights and of precomputed features use it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/base/mapped_file.h"

namespace hyfreedp {

enum class ElementType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8, kBool };

// The size of an element in bytes.
std::int64_t element_size(ElementType type);

struct StoredTensor {
  ElementType type = ElementType::kF32;
  // Empty for a scalar.
  std::vector<std::int64_t> shape = {};
  // The elements in C order (the last index runs fastest), little endian, without gaps. They are
  // read-only, for often they are part of a mapped file, and may begin at any address (aligned()).
  SharedBytes values = {};
};

// The values at an address that is a multiple of the element size: a copy where they are not.
inline SharedBytes aligned(const StoredTensor& tensor) {
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.values.bytes.data());
  const bool fits = address % static_cast<std::uintptr_t>(element_size(tensor.type)) == 0;
  return fits ? tensor.values : owned_bytes(std::string(tensor.values.bytes));
}

using StoredTensors = std::map<std::string, StoredTensor>;

}  // namespace hyfreedp
