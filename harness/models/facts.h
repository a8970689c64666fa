// Names and options of every model, without LibTorch, and the public number of parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/options.h"

namespace hyfreedp::models {

struct Facts {
  std::string name;
  std::string title;
  std::string source;
  std::vector<OptionSpec> options;
  std::int64_t microbatch = 2048;      // samples in memory at once, where a run does not say it
  std::int64_t example_features = 11;  // a number of input values that the model takes; tests use it
};

// Places of the tanh network for small images (Papernot et al., arXiv:2007.14191, table 1, and DP-SGD papers since):
// convolution 8x8, stride 2, padding 3; pool 2x2, stride 1; convolution 4x4, stride 2; pool 2x2, stride 1; two linear layers.
struct CnnShape {
  std::int64_t channels = 1;
  std::int64_t side = 28;  // pixels, of a square image
  std::int64_t filters1 = 16;
  std::int64_t filters2 = 32;
  std::int64_t flat = 512;  // values after the second pool
  std::int64_t hidden = 32;
};
// An error where `features` are no square image of the option's channels, or one too small.
Result<CnnShape> cnn_shape(const json::object& options, std::int64_t features);

const std::vector<Facts>& model_facts();
Result<const Facts*> find_model(const std::string& name);
// Number of trainable parameters under resolved options, for inputs of `features` values and `classes`
// outputs.
Result<std::int64_t> parameter_count(const std::string& name, const json::object& options,
                                     std::int64_t features, std::int64_t classes);

}  // namespace hyfreedp::models
