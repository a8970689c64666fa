// Sums over whole vectors in float64, whatever the vectors' type: the distances and norms of the
// learning-rate-free rules. On the CPU they are computed in one pass by blocks that do not depend
// on the number of threads, so the bits do not either.
#pragma once

#include <torch/types.h>

namespace hyfreedp::optimizers {

double sum_of_products(const torch::Tensor& a, const torch::Tensor& b);
double sum_of_squares(const torch::Tensor& a);
double sum_of_magnitudes(const torch::Tensor& a);

}  // namespace hyfreedp::optimizers
