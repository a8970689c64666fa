// What of a file's tensors does not fit a network, for one error that lists all of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <torch/types.h>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::models {

// The first twelve, and how many more.
std::string listed(const std::vector<std::string>& names);

struct Misfits {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> misshaped;

  void add_misshaped(const std::string& name, torch::IntArrayRef found, torch::IntArrayRef wanted);
  // Compares what a file has with the names and shapes that are `wanted`. `ignored` says of a name
  // that the file may have it.
  void compare(const std::map<std::string, torch::Tensor>& file,
               const std::map<std::string, std::vector<std::int64_t>>& wanted,
               const std::function<bool(const std::string&)>& ignored);
  // An error unless all three are empty.
  Result<void> result() const;
};

}  // namespace hyfreedp::models
