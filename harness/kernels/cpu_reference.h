// CPU reference implementations of the kernels, by plain loops and float64 tensor operations.
// kernels.h calls them for tensors on the CPU, and the tests compare the device's results with
// theirs. Each function is documented under its name in kernels.h.
#pragma once

#include "harness/kernels/kernels.h"

namespace hyfreedp::kernels::cpu_reference {

void add_row_norms(const torch::Tensor& values, torch::Tensor& squared_norms);
void add_embedding_norms(const torch::Tensor& ids, const torch::Tensor& gradients,
                         std::optional<std::int64_t> padding, torch::Tensor& squared_norms);
void release_mean(const PrivateMean& mean, torch::Tensor& sum);
void adam_step(const AdamNumbers& with, StepVectors& vectors);
void sgd_step(const SgdNumbers& with, StepVectors& vectors);
bool subtract_scaled(const torch::Tensor& weights, const torch::Tensor& direction, double x,
                     torch::Tensor& out);
std::array<std::uint64_t, 2> digest(const torch::Tensor& values);

}  // namespace hyfreedp::kernels::cpu_reference
