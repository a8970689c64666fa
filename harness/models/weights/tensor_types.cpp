#include "harness/models/weights/tensor_types.h"

#include <algorithm>
#include <array>

namespace hyfreedp::models {
namespace {

// Each element type with LibTorch's, in the order of ElementType.
constexpr std::array kTensorTypes = {
    TensorType{ElementType::kF64, torch::kFloat64}, TensorType{ElementType::kF32, torch::kFloat32},
    TensorType{ElementType::kF16, torch::kFloat16}, TensorType{ElementType::kBF16, torch::kBFloat16},
    TensorType{ElementType::kI64, torch::kInt64},   TensorType{ElementType::kI32, torch::kInt32},
    TensorType{ElementType::kI16, torch::kInt16},   TensorType{ElementType::kI8, torch::kInt8},
    TensorType{ElementType::kU64, torch::kUInt64},  TensorType{ElementType::kU32, torch::kUInt32},
    TensorType{ElementType::kU16, torch::kUInt16},  TensorType{ElementType::kU8, torch::kUInt8},
    TensorType{ElementType::kBool, torch::kBool}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kTensorTypes.size(); ++i) {
    if (kTensorTypes[i].stored != static_cast<ElementType>(i)) return false;
  }
  return kTensorTypes.back().stored == ElementType::kBool;
}
static_assert(is_in_order());

template <class Matches>
const TensorType* first_type(const Matches& matches) {
  const auto* const found = std::find_if(kTensorTypes.begin(), kTensorTypes.end(), matches);
  return found == kTensorTypes.end() ? nullptr : found;
}

}  // namespace

const TensorType& tensor_type(ElementType stored) { return kTensorTypes[static_cast<std::size_t>(stored)]; }

const TensorType* tensor_type(torch::ScalarType scalar) {
  return first_type([&](const TensorType& type) { return type.scalar == scalar; });
}

torch::Tensor view_of(const StoredTensor& stored) {
  const auto values = aligned(stored);
  return torch::from_blob(
      const_cast<char*>(values.bytes.data()), stored.shape, [keep = values.owner](void*) {},
      tensor_type(stored.type).scalar);
}

}  // namespace hyfreedp::models
