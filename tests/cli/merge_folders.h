// Folders that are merged, beside each other.
#pragma once

#include <filesystem>
#include <gmock/gmock.h>
#include <map>
#include <string>
#include <vector>

#include "tests/cli/folder_world.h"

namespace hyfreedp::cli {

inline std::string with_seeds(std::string yaml, const std::string& seeds) {
  const std::string before = "seeds: [0]";
  return yaml.replace(yaml.find(before), before.size(), "seeds: " + seeds);
}

class Merge : public FolderTest {
 protected:
  Merge() : FolderTest("merge") {}

  int merge(const std::vector<std::string>& others, const std::string& into) {
    std::vector<std::string> arguments;
    for (const auto& other : others) arguments.push_back(path(other));
    arguments.insert(arguments.end(), {"--out", path(into)});
    return run(arguments);
  }

  // Every file of the folder, with its bytes; the database as its rows.
  std::map<std::string, std::string> content(const std::string& name) {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(name))) {
      const auto file = entry.path().filename().string();
      if (!entry.is_regular_file() || file.starts_with("hyfreedp.")) continue;
      found[entry.path().string()] = read_file(entry.path().string()).value();
    }
    const auto opened = store(name);
    for (const auto& spec : opened->specs().value()) {
      found[spec.name] =
          results::export_rows(*opened, spec.name, {.times = true, .confidential = true}).value();
    }
    found["trials"] = std::to_string(opened->trials()->size());
    return found;
  }

  void expect_refused_unchanged(const std::vector<std::string>& others,
                                const std::vector<std::string>& parts) {
    const auto before = content("a");
    EXPECT_EQ(merge(others, "a"), 2) << out();
    EXPECT_EQ(out(), "");
    for (const auto& part : parts) EXPECT_THAT(err(), ::testing::HasSubstr(part));
    EXPECT_EQ(content("a"), before);
  }
};

}  // namespace hyfreedp::cli
