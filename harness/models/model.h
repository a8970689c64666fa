// Models by name: what a trial's `model` entry builds. Names and options: facts.h.
//   linear   layer "fc": features -> classes
//   mlp      layers "fc1", "fc2", ...: features -> hidden... -> classes, one activation between them
//   cnn      layers "conv1", "conv2", "fc1", "fc2" on images (facts.h: CnnShape)
// Initial weights depend on `key` only, so trials of one cell and seed start from the same point.
#pragma once

#include "harness/base/json.h"
#include "harness/models/network.h"
#include "harness/random/stream.h"

namespace hyfreedp::models {

struct ModelInput {
  std::int64_t features = 0;
  std::int64_t classes = 0;
};

// `options` resolved against facts.h.
Result<Network> make_model(const std::string& name, const json::object& options, const ModelInput& input,
                           const random::Key& key, const torch::TensorOptions& tensor_options);

}  // namespace hyfreedp::models
