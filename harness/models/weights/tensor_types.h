// The types of numbers that weights files have, in LibTorch's terms.
#pragma once

#include <torch/types.h>

#include "harness/base/stored_tensor.h"

namespace hyfreedp::models {

struct TensorType {
  ElementType stored;
  torch::ScalarType scalar;
};

const TensorType& tensor_type(ElementType stored);
// nullptr for every other type.
const TensorType* tensor_type(torch::ScalarType scalar);

// A view of the stored bytes, which it keeps alive (a copy where they are not aligned). They are
// read-only: writing to it may be a memory fault.
torch::Tensor view_of(const StoredTensor& stored);

}  // namespace hyfreedp::models
