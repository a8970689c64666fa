#include "harness/models/graph/graph.h"

#include <algorithm>

namespace hyfreedp::models::graph {
namespace {

bool has_attention(const Place& place) { return std::holds_alternative<Attention>(place.layer); }

bool is_used_at_every_place(const Layer& layer) {
  return std::holds_alternative<Linear>(layer) || std::holds_alternative<Convolution>(layer);
}

// Places of an image, or tokens, of which a layer gives one vector each.
std::int64_t places_of(const Place& place, const Sizes& output) {
  const bool of_image = std::holds_alternative<Convolution>(place.layer);
  return count_of(output) / (of_image ? output.front() : output.back());
}

}  // namespace

std::vector<std::string> parameter_names(const Place& place) {
  std::vector<std::string> names;
  for (auto& own : parameters_of(place.layer))
    names.push_back(place.name.empty() ? own.name : place.name + "." + own.name);
  return names;
}

std::vector<Parameter> parameters_of(const Graph& graph) {
  std::vector<Parameter> list;
  for (const auto& place : graph.places) {
    if (place.again >= 0) continue;
    const auto names = parameter_names(place);
    auto own = parameters_of(place.layer);
    for (std::size_t p = 0; p < own.size(); ++p) list.push_back({names[p], own[p].shape, own[p].initial});
  }
  return list;
}

std::vector<Sizes> sizes_of(const Graph& graph, const ModelInput& input) {
  std::vector<Sizes> sizes;
  for (const auto& place : graph.places) {
    std::vector<Sizes> read;
    for (const int from : place.inputs) {
      if (from == kInput) read.push_back({input.is_sequence() ? input.length : input.features});
      if (from >= 0) read.push_back(sizes[static_cast<std::size_t>(from)]);
    }
    sizes.push_back(output_sizes(place.layer, read));
  }
  return sizes;
}

std::int64_t tokens_of(const Graph& graph, const ModelInput& input) {
  const auto found = std::ranges::find_if(graph.places, has_attention);
  if (found == graph.places.end()) return 1;
  return sizes_of(graph, input)[static_cast<std::size_t>(found - graph.places.begin())].front();
}

std::vector<Span> spans_of_blocks(const Graph& graph) {
  std::vector<Span> spans;
  for (const auto& block : graph.blocks) {
    const auto is_of_block = [&](const Place& place) { return (place.name + ".").starts_with(block); };
    const auto first = std::ranges::find_if(graph.places, is_of_block);
    if (first == graph.places.end()) continue;
    const auto last = std::ranges::find_if(graph.places.rbegin(), graph.places.rend(), is_of_block);
    spans.push_back({static_cast<std::size_t>(first - graph.places.begin()),
                     static_cast<std::size_t>(graph.places.rend() - last) - 1});
  }
  return spans;
}

std::int64_t weight_uses(const Graph& graph, const ModelInput& input) {
  const bool of_a_token = std::ranges::any_of(graph.places, has_attention);
  const auto sizes = sizes_of(graph, input);
  std::int64_t uses = 0;
  for (std::size_t at = 0; at < graph.places.size(); ++at) {
    const auto& place = graph.places[at];
    if (place.again >= 0) continue;
    const bool often = !of_a_token && is_used_at_every_place(place.layer);
    const auto times = often ? places_of(place, sizes[at]) : 1;
    for (const auto& own : parameters_of(place.layer)) uses += times * count_of(own.shape);
  }
  return uses;
}

}  // namespace hyfreedp::models::graph
