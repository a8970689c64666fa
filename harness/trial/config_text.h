// Canonical JSON and ids of many trials, faster than TrialConfig::id(): trials that are planned one
// after another differ in a few members, and the text of the others is kept. A plan of 10^5 runs
// asks for several ids of each.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "harness/trial/trial_config.h"

namespace hyfreedp::trial {

class ConfigText {
 public:
  // canonical_json(config.to_json()), byte for byte; valid until the next call.
  const std::string& of(const TrialConfig& config);
  // config.id()
  std::string id_of(const TrialConfig& config);

 private:
  std::optional<TrialConfig> last_;
  std::map<std::string, std::string> members_;  // text by key; empty: left out
  std::string text_;
};

}  // namespace hyfreedp::trial
