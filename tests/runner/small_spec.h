// A small spec by its lines, and a file to read it from.
#pragma once

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner::small_spec {

// A complete small spec, of which a test replaces a line.
inline const std::vector<std::string> kLines = {
    "name: test",                                                 // 1
    "noise_seed: seed",                                           // 2
    "defaults:",                                                  // 3
    "  dataset: {name: synthetic, train: 1000}",                  // 4
    "  model: linear",                                            // 5
    "  seeds: [0, 1, 2]",                                         // 6
    "  epsilon: [1, inf]",                                        // 7
    "  delta: N^-1.1",                                            // 8
    "  train:",                                                   // 9
    "    sample_rate: 0.1",                                       // 10
    "    steps: 20",                                              // 11
    "    optimizer: {name: adamw, weight_decay: 0.02}",           // 12
    "rows:",                                                      // 13
    "  - method: prodigy",                                        // 14
    "  - {id: grid, method: nondp-gs, options: {grid: [1e-3]}}",  // 15
    "panels:",                                                    // 16
    "  - id: one",                                                // 17
    "    rows: default",                                          // 18
};

inline std::string with_line(std::size_t line, const std::string& text) {
  std::string yaml;
  for (std::size_t i = 0; i < kLines.size(); ++i) yaml += (i + 1 == line ? text : kLines[i]) + "\n";
  return yaml;
}

class SpecFile : public testing::Test {
 protected:
  SpecFile()
      : folder_(std::filesystem::temp_directory_path() / ("hyfreedp_spec_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~SpecFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "spec.yaml").string(); }
  Result<Spec> load(const std::string& yaml) const {
    std::ofstream(path()) << yaml;
    return load_spec(path());
  }
  json::object panel(const std::string& yaml) const {
    const auto spec = load(yaml);
    if (!spec) {
      ADD_FAILURE() << spec.error().message;
      return {};
    }
    return as_json(spec->content.panels.at(0));
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace hyfreedp::runner::small_spec
