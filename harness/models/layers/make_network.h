// Builds a network from its graph (harness/models/graph/graph.h).
#pragma once

#include <optional>

#include "harness/models/graph/graph.h"
#include "harness/models/layers/network.h"

namespace hyfreedp::models {

// The class of a described layer, without weights. An error for a saved program that cannot be
// loaded (program.h).
Result<std::shared_ptr<Layer>> make_layer(const graph::Layer& layer, torch::Device device);

// The network, as Network::make() makes it, and with its errors. Its head is the graph's, unless it
// is a convolution, which reads places and no features.
Result<Network> make_network(const graph::Graph& graph, const torch::TensorOptions& options,
                             const Network::Trainable& trainable = {},
                             std::optional<torch::ScalarType> compute = {});

}  // namespace hyfreedp::models
