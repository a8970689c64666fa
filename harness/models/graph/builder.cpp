#include "harness/models/graph/builder.h"

#include "harness/base/text.h"

namespace hyfreedp::models::graph {

int Builder::add(std::string name, Layer layer, std::vector<int> inputs) {
  if (inputs.empty()) inputs = {last()};
  graph_.places.push_back({std::move(name), std::move(layer), std::move(inputs)});
  return last();
}

int Builder::linear(const std::string& name, const Linear& layer, int input) {
  const int base = add(name, layer, {input});
  if (!lora_ || !lora_->adapts(name)) return base;
  adapted_ = true;
  const auto prefix = adapter_prefix(name);
  const Linear into{layer.inputs, lora_->rank, false, false, uniform_by_inputs(layer.inputs)};
  const int down = add(prefix + ".lora_A", into, {input});
  const int up = add(prefix + ".lora_B", Linear{lora_->rank, layer.outputs, false}, {down});
  return add(prefix + ".lora", Add{lora_->scale()}, {base, up});
}

int Builder::again(int place, int input) {
  const auto& earlier = graph_.places[static_cast<std::size_t>(place)];
  graph_.places.push_back({earlier.name, earlier.layer, {input}, place});
  return last();
}

Result<Graph> Builder::finish() {
  if (!lora_ || adapted_) return std::move(graph_);
  return error("model: no linear layer is called " + join(lora_->targets, " or ") +
               ", so the adapter has nothing to adapt.");
}

}  // namespace hyfreedp::models::graph
