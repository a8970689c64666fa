// Comparisons that the tests of models share.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <torch/types.h>

namespace hyfreedp::models {

// max|a - b| / max|b|; where b is exactly zero everywhere, a must be too.
inline testing::AssertionResult near_relative(const torch::Tensor& actual, const torch::Tensor& expected,
                                              double tolerance) {
  if (actual.sizes() != expected.sizes()) {
    return testing::AssertionFailure() << "shapes differ: " << actual.sizes() << " and " << expected.sizes();
  }
  const auto a = actual.to(torch::kCPU, torch::kFloat64);
  const auto b = expected.to(torch::kCPU, torch::kFloat64);
  const double scale = b.numel() == 0 ? 0 : b.abs().max().item<double>();
  const double difference = b.numel() == 0 ? 0 : (a - b).abs().max().item<double>();
  if (difference <= tolerance * scale) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "largest difference " << difference << " of largest entry " << scale
                                     << ", tolerance " << tolerance;
}

}  // namespace hyfreedp::models
