// Finds the level of a spec at which a misplaced key belongs: `steps` is read under `train`,
// `epsilon` beside it.
#pragma once

#include <optional>
#include <string>

namespace hyfreedp::runner {

struct RightLevel {
  std::string where;    // "under 'train'", as a message says it
  std::string path;     // of the map that reads the key: "panels[0].train"
  std::string example;  // a line of YAML, or nothing
};
// Returns the level of a key that the map at `path` does not read; none if no level near it does.
std::optional<RightLevel> right_level(const std::string& key, const std::string& path);

}  // namespace hyfreedp::runner
