// A network as a list of places, without LibTorch: which layers (layers.h) are applied, in which
// order, and to what. All that is known of a network before it is built is read from this list: its
// parameters (here), its cost (weight_uses here), and what it holds while it computes
// (step_memory.h). make_network (harness/models/layers/make_network.h) builds it.
#pragma once

#include <string>
#include <vector>

#include "harness/models/graph/layers.h"
#include "harness/models/graph/model_input.h"

namespace hyfreedp::models {

// A tensor of a network.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  Initial initial;

  std::int64_t size() const { return graph::count_of(shape); }
};

namespace graph {

inline constexpr int kInput = -1;  // the network's first input
inline constexpr int kMask = -2;   // its second

// One application of a layer.
struct Place {
  std::string name;  // begins the names of its parameters: "NAME.weight"; empty: nothing does
  Layer layer;
  std::vector<int> inputs;  // indices of earlier places, kInput or kMask
  // The earlier place whose layer stands here again, with its weights; -1: a layer of its own.
  int again = -1;
};

struct Graph {
  std::vector<Place> places;        // the last gives the logits
  std::vector<std::string> blocks;  // beginnings of parameters' names, from the input on
  // The same of the head, the last layer; empty: it is tied to the token embedding.
  std::string head = {};
  // The same of what belongs to the task: the head, and what is drawn anew and trained with it.
  std::string task = {};
};

// The names of the parameters of one place's layer, in order.
std::vector<std::string> parameter_names(const Place& place);
// The tensors of the network, in the order of its flat vector.
std::vector<Parameter> parameters_of(const Graph& graph);

// The places from `first` to `last`.
struct Span {
  std::size_t first = 0;
  std::size_t last = 0;
};

// The places of each block that has any, from the input on.
std::vector<Span> spans_of_blocks(const Graph& graph);

// The sizes of each place's output for one sample.
std::vector<Sizes> sizes_of(const Graph& graph, const ModelInput& input);
// The tokens of one sample that pass through attention; 1 where there is none.
std::int64_t tokens_of(const Graph& graph, const ModelInput& input);
// The number of weights that are multiplied in a forward pass of one sample or, if there is
// attention, of one of its tokens: all parameters, trainable or not. Without attention, those of
// convolutions and of linear layers count once for each place of the image, or token.
std::int64_t weight_uses(const Graph& graph, const ModelInput& input);

}  // namespace graph
}  // namespace hyfreedp::models
