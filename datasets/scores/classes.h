// Scores of predicted classes: those of the GLUE tasks (Wang et al., arXiv:1804.07461), with
// scikit-learn's definitions.
#pragma once

#include <cstdint>
#include <span>

namespace hyfreedp::scores {

// `predicted` and `classes` are of the same length, 1 at least; another one is an invariant
// violation (it throws).

// F1 of the class 1: 2 tp / (2 tp + fp + fn); 0 where it is neither predicted nor there.
double binary_f1(std::span<const std::int64_t> predicted, std::span<const std::int64_t> classes);
// Matthews' correlation coefficient, of any number of classes (Gorodkin, 2004), in [-1, 1]; 0 where
// one class alone is predicted, or there.
double matthews_correlation(std::span<const std::int64_t> predicted, std::span<const std::int64_t> classes);

}  // namespace hyfreedp::scores
