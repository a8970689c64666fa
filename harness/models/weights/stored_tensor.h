// A tensor as a file has it, without LibTorch: element type, shape and values. The readers of
// state_dict.h and safetensors.h use it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "harness/base/mapped_file.h"

namespace hyfreedp::models {

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

constexpr std::size_t kMostDimensions = 64;

using StoredTensors = std::map<std::string, StoredTensor>;

// Elements in a storage: element [i, j, ..] is number offset + i * strides[0] + j * strides[1] ..
struct StridedView {
  ElementType type = ElementType::kF32;
  SharedBytes storage = {};
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape = {};
  std::vector<std::int64_t> strides = {};
};

// The view's values in C order: part of the storage where they lie so, otherwise a copy, whose
// bytes are taken off `*copies_left`. An error, before any memory is taken, where shape, offset or
// a stride is negative or lies outside the storage, where there are more dimensions than
// kMostDimensions, where the view has more elements than its storage (strides of 0 could make
// terabytes of one byte), or where the copy is larger than `*copies_left`. The storage must be
// aligned as StoredTensor says. `where` begins every error.
Result<StoredTensor> stored_tensor(const StridedView& view, std::uint64_t* copies_left,
                                   const std::string& where);

}  // namespace hyfreedp::models
