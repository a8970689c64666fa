// Where a key belongs that stands at a wrong level of a spec: `steps` is read under `train`,
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
// Of a key that the map at `path` does not read; nothing where no level near it does.
std::optional<RightLevel> right_level(const std::string& key, const std::string& path);

}  // namespace hyfreedp::runner
