// Names and options of every model, and its public number of parameters, without LibTorch. For
// sizes see blueprint.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/options.h"
#include "harness/models/graph/step_memory.h"

namespace hyfreedp::models {

struct Facts {
  std::string name;
  std::string title;
  std::string source;
  std::vector<OptionSpec> options;
  // Default number of samples in memory at once. It keeps the matrix products busy and the recorded
  // pass small.
  std::int64_t microbatch = 2048;
  // A small instance and a dataset that suits it, for tests that run over every registered model.
  struct Example {
    std::string dataset = "synthetic";
    json::object dataset_options = {};
    json::object options = {};
  };
  Example example = {};
};

const std::vector<Facts>& model_facts();
Result<const Facts*> find_model(const std::string& name);
// The number of trainable parameters under resolved options.
Result<std::int64_t> parameter_count(const std::string& name, const json::object& options,
                                     const ModelInput& input);
// How many weights are multiplied in a forward pass of one sample, or of one of its tokens: all
// parameters, trainable or not, a convolution's once for each place of the image.
Result<std::int64_t> weight_uses(const std::string& name, const json::object& options,
                                 const ModelInput& input);
// The number of values that the model's head reads: the width of the features that the network
// computes of a sample (Network::features) before its last linear layer. An error for a network
// whose output projection is tied to its token embedding.
Result<std::int64_t> feature_width(const std::string& name, const json::object& options,
                                   const ModelInput& input);
// What a training step holds in memory (graph/step_memory.h).
Result<StepMemory> step_memory(const std::string& name, const json::object& options, const ModelInput& input,
                               bool on_cpu);

}  // namespace hyfreedp::models
