#include "harness/trial/trial_config.h"

#include <cmath>

#include "harness/base/files.h"

namespace hyfreedp::trial {

json::value ScoreRelease::to_json() const {
  if (loss_bound == 0) return noise_counts;
  return json::object{{"noise", noise_counts}, {"loss_bound", loss_bound}};
}

Result<ScoreRelease> ScoreRelease::from_json(const json::value& value, const std::string& where) {
  const auto* object = value.if_object();
  const auto noise = object != nullptr ? get_double(*object, "noise", where) : to_double(value, where);
  if (!noise) return noise.error();
  if (!(*noise > 0)) return error(where + " must be positive");
  if (object == nullptr) return ScoreRelease{*noise};
  const auto bound = get_double(*object, "loss_bound", where);
  if (!bound) return bound.error();
  if (!(*bound > 0) || !std::isfinite(*bound)) return error(where + ": 'loss_bound' must be positive");
  return ScoreRelease{*noise, *bound};
}

json::object TrialConfig::to_json() const {
  json::object object;
  description::add_members(*this, object);
  return object;
}

Result<TrialConfig> TrialConfig::from_json(const json::value& value, const std::string& where) {
  if (!value.is_object()) return error(where + ": a trial's config must be an object");
  TrialConfig config;
  if (auto read = description::read_members(value.get_object(), where, config); !read) return read.error();
  if (config.steps < 1) return error(where + ": 'steps' must be at least 1");
  return config;
}

std::string TrialConfig::id() const { return sha256_hex(canonical_json(to_json())).substr(0, 16); }

std::vector<Named> datasets_of(const TrialConfig& config) {
  std::vector<Named> all = {config.dataset};
  all.reserve(1 + config.ood_test.size());
  for (const auto& shifted : config.ood_test) all.push_back(shifted.dataset);
  return all;
}

}  // namespace hyfreedp::trial
