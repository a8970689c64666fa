// The public number of parameters of every registered model (networks/registry.h), and its cost,
// without LibTorch.
#pragma once

#include <cstdint>
#include <string>

#include "harness/models/graph/step_memory.h"
#include "harness/models/networks/registry.h"

namespace hyfreedp::models {

// The number of trainable parameters under resolved options.
Result<std::int64_t> parameter_count(const std::string& name, const json::object& options,
                                     const ModelInput& input);
// The number of weights that are multiplied in a forward pass of one sample, or of one of its
// tokens (graph::weight_uses, graph/graph.h).
Result<std::int64_t> weight_uses(const std::string& name, const json::object& options,
                                 const ModelInput& input);
// The tokens of a sample that these weights are used for; 1 where there is no attention.
Result<std::int64_t> token_count(const std::string& name, const json::object& options,
                                 const ModelInput& input);
// The number of values that the model's head reads: the width of the features that the network
// computes of a sample (Network::features) before its last linear layer. An error for a network
// whose output projection is tied to its token embedding.
Result<std::int64_t> feature_width(const std::string& name, const json::object& options,
                                   const ModelInput& input);
// The memory of a training step (graph/step_memory.h).
Result<StepMemory> step_memory(const std::string& name, const json::object& options, const ModelInput& input,
                               const graph::Target& target);

}  // namespace hyfreedp::models
