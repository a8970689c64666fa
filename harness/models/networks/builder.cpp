#include "harness/models/networks/builder.h"

#include "harness/base/text.h"
#include "harness/models/layers/shape.h"

namespace hyfreedp::models {

int Builder::add(std::string name, std::shared_ptr<Layer> layer, std::vector<int> inputs) {
  places_.push_back({std::move(name), std::move(layer), std::move(inputs)});
  return last();
}

int Builder::linear(const std::string& name, const LinearSize& size, int input) {
  const int base = add(
      name, std::make_shared<Linear>(size.inputs, size.outputs, size.with_bias, size.transposed), {input});
  if (!lora_ || !lora_->adapts(name)) return base;
  adapted_ = true;
  const auto prefix = adapter_prefix(name);
  const int down =
      add(prefix + ".lora_A", std::make_shared<Linear>(size.inputs, lora_->rank, false), {input});
  const int up = add(prefix + ".lora_B", std::make_shared<Linear>(lora_->rank, size.outputs, false), {down});
  return add(prefix + ".lora", std::make_shared<Add>(lora_->scale()), {base, up});
}

Result<Network> Builder::build(const torch::TensorOptions& options, const Network::Trainable& trainable) {
  if (lora_ && !adapted_) {
    return error("model: no linear layer is called " + join(lora_->targets, " or ") +
                 ", so the adapter has nothing to adapt.");
  }
  return Network::make(std::move(places_), options, trainable);
}

}  // namespace hyfreedp::models
