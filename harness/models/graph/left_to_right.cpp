#include "harness/models/graph/left_to_right.h"

#include <fmt/format.h>

namespace hyfreedp::models::graph {
namespace {

struct ReadsOn {
  bool operator()(const Attention& layer) const {
    const auto& shape = layer.shape;
    return shape.causal && !shape.masked && !shape.grid && shape.side == 0;
  }
  bool operator()(const Linear& /*layer*/) const { return true; }
  bool operator()(const LayerNorm& /*layer*/) const { return true; }
  bool operator()(const RmsNorm& /*layer*/) const { return true; }
  bool operator()(const Embedding& /*layer*/) const { return true; }
  bool operator()(const Positions& /*layer*/) const { return true; }
  bool operator()(const Activation& /*layer*/) const { return true; }
  bool operator()(const Add& /*layer*/) const { return true; }
  template <class Other>
  bool operator()(const Other& /*layer*/) const {
    return false;
  }
};

}  // namespace

Result<void> check_left_to_right(const Graph& graph, std::int64_t length) {
  for (const auto& place : graph.places) {
    if (!std::visit(ReadsOn{}, place.layer))
      return error("the network does not read from left to right: '" + place.name + "' looks elsewhere");
    const auto* table = std::get_if<Positions>(&place.layer);
    if (table == nullptr) continue;
    const auto places = table->shape.at(table->shape.size() - 2) - table->first;
    if (places < length)
      return error(
          fmt::format("its {} positions are fewer than the {} tokens of the longest prompt and what is "
                      "written after it",
                      places, length));
  }
  return {};
}

}  // namespace hyfreedp::models::graph
