// Assembles the places of a network, with low-rank adapters (pairs of linear layers, lora.h) beside
// the layers that are their targets.
#pragma once

#include <optional>

#include "harness/models/facts/lora.h"
#include "harness/models/layers/linear.h"
#include "harness/models/networks/network.h"

namespace hyfreedp::models {

class Builder {
 public:
  explicit Builder(std::optional<Lora> lora = {}) : lora_(std::move(lora)) {}

  // Adds a layer and returns the index of its place, by which later places name their inputs.
  int add(std::string name, std::shared_ptr<Layer> layer, std::vector<int> inputs = {});
  // Adds a linear layer and, if it is a target, its adapter.
  struct LinearSize {
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    bool with_bias = true;
    bool transposed = false;
  };
  int linear(const std::string& name, const LinearSize& size, int input);
  int last() const { return static_cast<int>(places_.size()) - 1; }

  // The network. An error if the adapter's targets match no layer.
  Result<Network> build(const torch::TensorOptions& options, const Network::Trainable& trainable);

 private:
  std::optional<Lora> lora_;
  bool adapted_ = false;
  std::vector<Network::Place> places_;
};

}  // namespace hyfreedp::models
