// DoG, distance over gradients. Owns its step size.
//
//   rbar = max(reps_rel (1 + ||x0||), ||x_i - x0|| so far)
//   G    = eps + sum of ||g_i||^2 so far, this step's included; weight_decay x is added to g first
//   u    = lr rbar / sqrt(G) g                                        (G = 0: u = 0)
//
// average: the polynomial-decay average (Shamir and Zhang 2013, gamma = 8) that the paper
// evaluates,
//   a_t = (1 - w) a_{t-1} + w x_t, w = 9 / (8 + t), t from 1; evaluation_parameters() returns it.
//
// Source: Ivgi, Hinder and Carmon 2023 (arXiv:2302.12022); average and eps as in the authors'
// dog-optimizer 1.0.3.
#pragma once

#include <memory>

#include "optimizers/optimizer.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_dog(const DogOptions& options);

}  // namespace hyfreedp::optimizers
