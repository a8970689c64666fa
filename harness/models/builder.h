// Puts the places of a network together, with low-rank adapters where they are asked for.
//
// An adapter is a pair of linear layers beside the adapted one (lora.h).
#pragma once

#include <optional>

#include "harness/models/linear.h"
#include "harness/models/lora.h"
#include "harness/models/network.h"

namespace hyfreedp::models {

class Builder {
 public:
  explicit Builder(std::optional<Lora> lora = {}) : lora_(std::move(lora)) {}

  // The place's index, for later places' inputs.
  int add(std::string name, std::shared_ptr<Layer> layer, std::vector<int> inputs = {});
  // A linear layer and, where it is a target, its adapter.
  struct LinearSize {
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    bool with_bias = true;
    bool transposed = false;
  };
  int linear(const std::string& name, const LinearSize& size, int input);
  int last() const { return static_cast<int>(places_.size()) - 1; }

  // An error where no layer was a target.
  Result<Network> build(const torch::TensorOptions& options, const Network::Trainable& trainable);

 private:
  std::optional<Lora> lora_;
  bool adapted_ = false;
  std::vector<Network::Place> places_;
};

}  // namespace hyfreedp::models
