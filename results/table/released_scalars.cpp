#include "results/table/released_scalars.h"

#include <algorithm>
#include <array>

#include "datasets/facts.h"

namespace hyfreedp::results {
namespace {

const json::object* object_at(const json::object& object, const char* key) {
  const auto* found = object.if_contains(key);
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

}  // namespace

bool scalars_are_released(const json::object& trial_config) {
  const auto* privacy = object_at(trial_config, "privacy");
  const auto* is_private = privacy != nullptr ? privacy->if_contains("is_private") : nullptr;
  const auto* dataset = object_at(trial_config, "dataset");
  return (is_private != nullptr && is_private->is_bool() && is_private->get_bool()) ||
         (dataset != nullptr && datasets::training_split_is_public(*dataset));
}

bool is_step_size(const std::string& scalar) {
  static constexpr std::array<const char*, 4> kNames = {"eta", "d", "lr_used", "dlr"};
  return std::find(kNames.begin(), kNames.end(), scalar) != kNames.end();
}

}  // namespace hyfreedp::results
