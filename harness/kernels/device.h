// The functions of kernels.h for tensors on a CUDA device; defined in device.cpp, in builds with
// CUDA only.
#pragma once

#include "harness/kernels/kernels.h"

namespace hyfreedp::kernels::device {

std::string device_name();
void fill_words(const StreamPart& part, torch::Tensor& out);
void fill_uniforms(const StreamPart& part, torch::Tensor& out);
void fill_normals(const StreamPart& part, torch::Tensor& out);
void add_normals(const StreamPart& part, double scale, torch::Tensor& destination);
void poisson_mask(const StreamPart& part, std::uint64_t threshold, torch::Tensor& mask);
void add_row_norms(const torch::Tensor& values, torch::Tensor& squared_norms);
void add_ghost_norms(const torch::Tensor& inputs, const torch::Tensor& gradients,
                     torch::Tensor& squared_norms);
void add_embedding_norms(const torch::Tensor& ids, const torch::Tensor& gradients,
                         std::optional<std::int64_t> padding, torch::Tensor& squared_norms);
void release_mean(const PrivateMean& mean, torch::Tensor& sum);
void private_adam(const PrivateMean& mean, const AdamNumbers& with, double step, StepVectors& vectors);
void private_sgd(const PrivateMean& mean, const SgdNumbers& with, double step, StepVectors& vectors);
bool subtract_scaled(const torch::Tensor& weights, const torch::Tensor& direction, double x,
                     torch::Tensor& out);
std::array<std::uint64_t, 2> digest(const torch::Tensor& values);

}  // namespace hyfreedp::kernels::device
