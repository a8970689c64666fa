// A tensor whose values are a strided view of what a file has, without LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/stored_tensor.h"

namespace hyfreedp::models {

constexpr std::size_t kMostDimensions = 64;

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
