// Runs a command in this process and keeps what it said.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/cli/commands.h"

namespace hyfreedp::cli {

inline std::ptrdiff_t lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

class CommandTest : public testing::Test {
 protected:
  explicit CommandTest(std::string command) : command_(std::move(command)) {}

  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("hyfreedp-" + command_ + "-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  int run(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    arguments.insert(arguments.begin(), command_);
    return dispatch(arguments, out_, err_);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  // Runs with --json, which must succeed.
  json::object answer(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    EXPECT_EQ(run(arguments), 0) << err();
    EXPECT_EQ(err(), "");
    const auto value = parse_json(out(), "the answer");
    EXPECT_TRUE(value) << out();
    return value && value->is_object() ? value->get_object() : json::object{};
  }

  // The file's path.
  std::string file(const std::string& name, const std::string& content) const {
    const auto path = (folder_ / name).string();
    std::filesystem::remove(path);  // some file systems sync what replaces a file
    EXPECT_TRUE((std::ofstream(path, std::ios::binary) << content).flush());
    return path;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Refused with exit code 2, nothing on the output, and one line on the error stream that holds
  // all of `parts`.
  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    std::string shown;
    for (const auto& argument : arguments) shown += ' ' + argument.substr(0, 80);
    EXPECT_EQ(run(arguments), 2) << shown << '\n' << out();
    EXPECT_EQ(out(), "") << shown;
    EXPECT_EQ(lines_in(err()), 1) << shown << '\n' << err();
    const auto lead = "hyfreedp " + command_ + ": ";
    EXPECT_EQ(err().rfind(lead, 0), 0u) << err();
    const auto said = err().substr(std::min(lead.size(), err().size())) + "  ";
    EXPECT_FALSE(is_capital(said[0]) && !is_capital(said[1])) << "begins like a sentence: " << err();
    for (const auto& part : parts) {
      EXPECT_NE(err().find(part), std::string::npos) << shown << '\n' << part << '\n' << err();
    }
  }

  // All long options that --help lists, in order.
  std::vector<std::string> options_in_help() {
    EXPECT_EQ(run({"--help"}), 0);
    std::vector<std::string> options;
    std::istringstream lines(out());
    for (std::string line; std::getline(lines, line);) {
      const auto dashes = line.find("--");
      if (line.rfind("  -", 0) != 0 || dashes == std::string::npos) continue;
      options.push_back(line.substr(dashes, line.find_first_of(" \t", dashes) - dashes));
    }
    return options;
  }

  std::filesystem::path folder_;

 private:
  static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

  std::string command_;
  std::ostringstream out_, err_;
};

}  // namespace hyfreedp::cli
