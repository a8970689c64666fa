// The functions of kernels.h for tensors on a CUDA device; defined in device.cpp, in builds with
// CUDA only.
#pragma once

#include "harness/kernels/kernels.h"

namespace hyfreedp::kernels::device {

std::string device_name();
void add_row_norms(const torch::Tensor& values, torch::Tensor& squared_norms);
void add_embedding_norms(const torch::Tensor& ids, const torch::Tensor& gradients,
                         std::optional<std::int64_t> padding, torch::Tensor& squared_norms);
void release_mean(const PrivateMean& mean, torch::Tensor& sum);
void adam_step(const AdamNumbers& with, StepVectors& vectors);
void sgd_step(const SgdNumbers& with, StepVectors& vectors);
bool subtract_scaled(const torch::Tensor& weights, const torch::Tensor& direction, double x,
                     torch::Tensor& out);
std::array<std::uint64_t, 2> digest(const torch::Tensor& values);

}  // namespace hyfreedp::kernels::device
