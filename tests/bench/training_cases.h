// What training_bench measures: each network built twice, on harness/models and with LibTorch's own
// operations for autograd.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <torch/types.h>
#include <vector>

#include "harness/models/layers/loss.h"
#include "harness/models/layers/network.h"

namespace hyfreedp::bench {

using Parameters = std::map<std::string, torch::Tensor>;

struct Case {
  std::string name;
  std::int64_t batch = 1;
  models::Loss loss = models::Loss::cross_entropy;
  std::function<models::Network(torch::Device)> network;
  // Logits of the same network, from tensors that autograd may follow.
  std::function<torch::Tensor(const Parameters&, const torch::Tensor& inputs)> stock_logits;
  std::function<torch::Tensor(std::int64_t rows)> inputs;
  std::function<torch::Tensor(std::int64_t rows)> labels;
};

std::vector<Case> training_cases();

}  // namespace hyfreedp::bench
