// Finds and reads the reference files of this room: every *.json in
// $HYFREEDP_REFERENCE_DIR/optimizers.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::optimizers::reference {

struct File {
  std::string name;
  std::string schema;
  json::object content;
};

inline std::filesystem::path folder() {
  const char* given = std::getenv("HYFREEDP_REFERENCE_DIR");
  return std::filesystem::path(given != nullptr ? given : HYFREEDP_TEST_DATA) / "optimizers";
}

inline std::vector<File> all_files() {
  std::vector<File> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".json") continue;
    auto value = read_json_file(entry.path().string());
    if (!value) {
      ADD_FAILURE() << value.error().message;
      continue;
    }
    const auto& object = value->as_object();
    files.push_back({entry.path().filename().string(), string_or(object, "schema", ""), object});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.name < b.name; });
  return files;
}

inline std::vector<File> files_of(const std::string& schema) {
  auto files = all_files();
  std::erase_if(files, [&](const File& file) { return file.schema != schema; });
  return files;
}

// A suite skips, loudly, where the folder is absent. It fails where it finds none of its cases: in
// the project's own data always; in a folder given by HYFREEDP_REFERENCE_DIR, which may hold some
// kinds only, where that has no file at all.
class Suite : public ::testing::Test {
 protected:
  explicit Suite(std::string unit = "cases") : unit_(std::move(unit)) {}

  void SetUp() override {
    if (std::filesystem::is_directory(folder())) return;
    std::cout << "SKIPPED SUITE: there is no folder " << folder().string() << std::endl;
    GTEST_SKIP() << "no folder " << folder().string();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    const bool own_data = std::getenv("HYFREEDP_REFERENCE_DIR") == nullptr;
    if (own_data || all_files().empty()) {
      EXPECT_GT(count_, 0) << "no " << unit_ << " in " << folder().string();
    }
    std::cout << count_ << " reference " << unit_ << std::endl;
  }

  int count_ = 0;

 private:
  const std::string unit_;
};

inline double as_double(const json::value& value) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value.is_bool()) return value.as_bool() ? 1 : 0;
  return to_double(value, "reference value").value();
}

inline std::vector<double> as_doubles(const json::value& value) {
  std::vector<double> numbers;
  for (const auto& element : value.as_array()) numbers.push_back(as_double(element));
  return numbers;
}

inline bool near(double got, double wanted, double relative, double absolute = 0) {
  if (std::isnan(wanted)) return std::isnan(got);
  if (std::isinf(wanted)) return got == wanted;
  return std::abs(got - wanted) <= std::max(absolute, relative * std::abs(wanted));
}

}  // namespace hyfreedp::optimizers::reference
