#include "harness/models/networks/mlp.h"

namespace hyfreedp::models {

Result<graph::Graph> graph_of(const MlpShape& shape, const std::optional<Lora>& lora) {
  using Kind = graph::Activation::Kind;
  graph::Builder net(lora);
  auto width = shape.features;
  if (!shape.program.empty())
    net.add("program", graph::Program{shape.program, shape.image, shape.inputs, width});
  int number = 1;
  for (const auto next : shape.hidden) {
    const auto name = "fc" + std::to_string(number);
    net.block(name);
    net.linear(name, {.inputs = width, .outputs = next, .weight = he_normal(width)}, net.last());
    net.add("activation" + std::to_string(number), graph::Activation{shape.relu ? Kind::relu : Kind::tanh});
    width = next;
    ++number;
  }
  const auto last = number == 1 ? std::string("fc") : "fc" + std::to_string(number);
  net.linear(last, {.inputs = width, .outputs = shape.classes, .with_bias = shape.bias}, net.last());
  net.head(last);
  return net.finish();
}

}  // namespace hyfreedp::models
