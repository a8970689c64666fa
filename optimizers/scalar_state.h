// The scalars of a rule's state by name, listed once for saving and restoring. A rule declares its
// doubles first and then one ScalarState that lists them; the owner must not be copied or moved,
// because the list holds their addresses.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::optimizers {

class ScalarState {
 public:
  ScalarState(std::initializer_list<std::pair<std::string, double*>> fields) : fields_(fields) {}
  ScalarState(const ScalarState&) = delete;
  ScalarState& operator=(const ScalarState&) = delete;

  std::map<std::string, double> save() const {
    std::map<std::string, double> values;
    for (const auto& [name, field] : fields_) values[name] = *field;
    return values;
  }
  void restore(const std::map<std::string, double>& values) {
    for (const auto& [name, field] : fields_) {
      const auto found = values.find(name);
      HYFREEDP_CHECK(found != values.end(), "the checkpoint has no '" + name + "'");
      *field = found->second;
    }
  }

 private:
  std::vector<std::pair<std::string, double*>> fields_;
};

}  // namespace hyfreedp::optimizers
