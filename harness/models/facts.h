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
};

const std::vector<Facts>& model_facts();
Result<const Facts*> find_model(const std::string& name);
// Number of trainable parameters under resolved options, for inputs of `features` values and `classes`
// outputs.
Result<std::int64_t> parameter_count(const std::string& name, const json::object& options,
                                     std::int64_t features, std::int64_t classes);

}  // namespace hyfreedp::models
