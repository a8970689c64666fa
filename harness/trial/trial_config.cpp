#include "harness/trial/trial_config.h"

#include "harness/base/files.h"

namespace hyfreedp::trial {

Result<ScoreRelease> ScoreRelease::from_json(const json::value& value, const std::string& where) {
  const auto noise = to_double(value, where);
  if (!noise) return noise.error();
  if (!(*noise > 0)) return error(where + " must be positive");
  return ScoreRelease{*noise};
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
