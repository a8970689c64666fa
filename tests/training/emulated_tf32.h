// TF32 on a CPU, for tests. While an EmulatedTf32 lives, this thread's float32 matrix products and
// convolutions round their factors to 10 bits of mantissa, as a GPU's tensor cores do, wherever
// LibTorch's switch allows it at that moment. Every operation of LibTorch passes through here, so
// that no product of the code under test is missed. For one test file of a program.
#pragma once

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <bit>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <map>
#include <string>
#include <torch/library.h>
#include <torch/types.h>

namespace hyfreedp::training {

// Ties away from zero, as cvt.rna.tf32.f32 rounds.
inline torch::Tensor rounded_to_tf32(const torch::Tensor& values) {
  auto rounded = values.clone();
  const auto bits = rounded.view(torch::kInt32);
  bits.add_(0x1000).bitwise_and_(~0x1fff);
  return at::where(at::isfinite(values), rounded, values);
}

inline std::int64_t& emulated_products() {
  static thread_local std::int64_t count = 0;
  return count;
}

inline void with_rounded_factors(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard inside(c10::DispatchKey::TESTING_ONLY_GenericMode);
  // The numbers of the arguments that a product's tensor cores read.
  static const std::map<std::string, std::pair<std::size_t, std::size_t>> factors = {
      {"aten::mm", {0, 2}},
      {"aten::bmm", {0, 2}},
      {"aten::matmul", {0, 2}},
      {"aten::addmm", {1, 3}},
      {"aten::addmm_", {1, 3}},
      {"aten::baddbmm", {1, 3}},
      {"aten::baddbmm_", {1, 3}},
      {"aten::linear", {0, 2}},
      {"aten::conv2d", {0, 2}},
      {"aten::convolution", {0, 2}},
      {"aten::convolution_backward", {0, 3}}};
  const auto found = factors.find(operation.schema().name());
  if (found != factors.end() && at::globalContext().allowTF32CuBLAS()) {
    const auto arguments = operation.schema().arguments().size();
    for (auto k = found->second.first; k < found->second.second; ++k) {
      auto& value = *(stack->end() - static_cast<std::ptrdiff_t>(arguments - k));
      if (!value.isTensor() || value.toTensor().scalar_type() != torch::kFloat32) continue;
      value = rounded_to_tf32(value.toTensor());
      ++emulated_products();
    }
  }
  operation.callBoxed(stack);
}

class EmulatedTf32 {
 private:
  c10::impl::IncludeDispatchKeyGuard intercepted_{c10::DispatchKey::TESTING_ONLY_GenericMode};
};

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&with_rounded_factors>());
}

}  // namespace hyfreedp::training
