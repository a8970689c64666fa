// Published weights that tests read where they are at hand.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "harness/base/files.h"

namespace hyfreedp::models {

// The folder weights/NAME with that file, in $HYFREEDP_DATA or the cache; empty where it is in
// neither.
inline std::string published_weights(const std::string& name, const std::string& file) {
  const auto* const data = std::getenv("HYFREEDP_DATA");
  for (const auto& above : {std::string(data == nullptr ? "" : data), cache_folder()}) {
    const auto folder = above + "/weights/" + name;
    if (!above.empty() && std::filesystem::exists(folder + "/" + file)) return folder;
  }
  return "";
}
inline std::string published_efficientnet_lite0() {
  return published_weights("efficientnet-lite0", "pytorch_model.bin");
}
inline std::string published_squeezenet() { return published_weights("squeezenet1.1", "weights.pkl"); }
// What a test says that is skipped without them.
inline std::string without_weights(const std::string& name) {
  return "SKIPPED: the pretrained weights are not here (hyfreedp data fetch " + name + ")";
}

}  // namespace hyfreedp::models
