// Reference cases: every case of every file in $HYFREEDP_REFERENCE_DIR/accounting
// (default: tests/data/accounting).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <iostream>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/base/json.h"

namespace hyfreedp::accounting::testing {

inline std::filesystem::path reference_folder() {
  const char* folder = std::getenv("HYFREEDP_REFERENCE_DIR");
  return std::filesystem::path(folder != nullptr ? folder : HYFREEDP_TEST_DATA) / "accounting";
}

inline double num(const json::object& object, const char* key) {
  return get_double(object, key, "case").value();
}
inline std::int64_t whole(const json::object& object, const char* key) {
  return get_int(object, key, "case").value();
}
inline std::string text(const json::object& object, const char* key) {
  return get_string(object, key, "case").value();
}

// The cases of one file; prints how many there are. Empty (and the test is skipped) where the
// folder or file is absent.
inline std::vector<json::object> cases_of(const std::string& stem) {
  const auto path = reference_folder() / (stem + ".json");
  std::vector<json::object> cases;
  if (!std::filesystem::exists(path)) {
    std::cout << "SKIPPED SUITE: " << path << " is absent\n";
    return cases;
  }
  const auto value = read_json_file(path.string());
  EXPECT_TRUE(value.has_value()) << value.error().message;
  for (const auto& one : value->as_object().at("cases").as_array()) cases.push_back(one.as_object());
  EXPECT_FALSE(cases.empty()) << path << " holds no case";
  std::cout << stem << ": " << cases.size() << " cases\n";
  return cases;
}

inline Events psg(const json::object& one, Neighbouring neighbouring = Neighbouring::add_remove) {
  return {neighbouring, {poisson_gaussian(num(one, "q"), num(one, "sigma"), whole(one, "steps"))}};
}

}  // namespace hyfreedp::accounting::testing
