#include "results/provenance/weights_release.h"

#include "datasets/facts.h"
#include "results/table/released_scalars.h"

namespace hyfreedp::results {
namespace {

constexpr const char* kEndToEnd = "end-to-end DP";

}  // namespace

std::string why_weights_are_confidential(const std::string& label, const json::object& trial_config) {
  const auto* dataset = trial_config.if_contains("dataset");
  if (dataset != nullptr && dataset->is_object() &&
      datasets::training_split_is_public(dataset->get_object())) {
    return "";
  }
  if (!scalars_are_released(trial_config)) return "trained without noise on private data";
  if (label != kEndToEnd) {
    return "chosen with the help of private data that its epsilon does not charge (label '" + label + "')";
  }
  const auto* noise_seed = trial_config.if_contains("noise_seed");
  if (noise_seed == nullptr || !noise_seed->is_null()) {
    return "the spec's noise_seed repeats its noise, which anybody can then subtract; leave noise_seed out";
  }
  return "";
}

}  // namespace hyfreedp::results
