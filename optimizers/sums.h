// Sums over whole vectors in float64, whatever the vectors' type: the distance and norm statistics of the
// learning-rate-free rules. On the CPU in one pass and in a fixed order, so the same bits for any number of
// threads.
#pragma once

#include <torch/types.h>

namespace hyfreedp::optimizers {

double sum_of_products(const torch::Tensor& a, const torch::Tensor& b);
double sum_of_squares(const torch::Tensor& a);
double sum_of_magnitudes(const torch::Tensor& a);

}  // namespace hyfreedp::optimizers
