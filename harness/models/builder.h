// Puts the places of a network together, with low-rank adapters where they are asked for.
//
// A LoRA pair (Hu et al., arXiv:2106.09685) beside a linear layer: y = W x + (alpha / rank) B (A x), A [rank, in], B [out, rank].
// Its parameters have peft's names, base_model.model.LAYER.lora_A.weight and .lora_B.weight; the layer keeps its own.
#pragma once

#include <optional>

#include "harness/base/json.h"
#include "harness/models/linear.h"
#include "harness/models/network.h"

namespace hyfreedp::models {

struct Lora {
  std::int64_t rank = 8;
  double alpha = 8;
  bool root_scaling = false;         // alpha / sqrt(rank) ("rslora")
  std::vector<std::string> targets;  // a layer's name, or the end of it after a dot

  double scale() const;
  bool adapts(const std::string& layer) const;
  // peft's adapter_config.json. What this library cannot run (DoRA, patterns, saved modules, trained biases) is refused by name.
  static Result<Lora> from_json(const json::object& config, const std::string& where);
};

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
