// Collects the tensors of a file that do not fit a network, for one error that lists them all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::models {

using TensorShapes = std::map<std::string, std::vector<std::int64_t>>;

// The first twelve, and how many more.
std::string listed(const std::vector<std::string>& names);

struct Misfits {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> misshaped;

  void add_misshaped(const std::string& name, const std::vector<std::int64_t>& found,
                     const std::vector<std::int64_t>& wanted);
  // Compares what a file has with the names and shapes that are `wanted`. `ignored` says of a name
  // that the file may have it.
  void compare(const TensorShapes& file, const TensorShapes& wanted,
               const std::function<bool(const std::string&)>& ignored);
  // An error unless all three are empty.
  Result<void> result() const;
};

}  // namespace hyfreedp::models
