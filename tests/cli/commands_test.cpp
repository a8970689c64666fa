// What every command answers alike: help, and refusals that name what is wrong.
#include "harness/cli/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "tests/in_project_folder.h"

namespace hyfreedp::cli {
namespace commands_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

Said run(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = dispatch(arguments, out, err);
  return {code, out.str(), err.str()};
}

TEST(Commands, HelpHasThreeWays) {
  for (const auto& command : commands()) {
    const auto help = run({command.name, "--help"});
    EXPECT_EQ(help.code, 0) << command.name;
    EXPECT_THAT(help.out, HasSubstr("hyfreedp " + command.name));
    EXPECT_EQ(run({command.name, "-h"}).out, help.out) << command.name;
    EXPECT_EQ(run({"help", command.name}).out, help.out) << command.name;
  }
  EXPECT_EQ(run({"help", "export", "rows"}).out, run({"export", "rows", "--help"}).out);
  EXPECT_EQ(run({"help", "nothing"}).code, 2);
}

// Of every command, and of the parts of those that have some.
TEST(Commands, HelpFitsAHundredColumns) {
  std::vector<std::vector<std::string>> all{{}};
  for (const auto& command : commands()) {
    all.push_back({command.name});
    for (const auto& part : command.parts) {
      all.push_back({command.name, part.name.substr(command.name.size() + 1)});
    }
  }
  EXPECT_GT(all.size(), 40U);
  for (auto arguments : all) {
    arguments.emplace_back("--help");
    const auto help = run(arguments);
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      const auto width =
          std::count_if(line.begin(), line.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
      EXPECT_LE(width, 100) << arguments.front() << ": " << line;
    }
  }
}

TEST(Commands, ARefusalNamesItsCommandAndEndsWithAFullStop) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"list"},
                                                    {"list", "method"},
                                                    {"run"},
                                                    {"table"},
                                                    {"status", "--out", "/nonexistent"},
                                                    {"run", "a.yaml", "--workers", "0"},
                                                    {"epsilon", "--delta", "2"},
                                                    {"export"}}) {
    const auto said = run(arguments);
    EXPECT_EQ(said.code, 2) << arguments[0];
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, StartsWith("hyfreedp " + arguments[0] + ": "));
    EXPECT_THAT(said.err, EndsWith(".\n"));
  }
}

TEST(Commands, AnArgumentThatBelongsNowhereIsNamed) {
  EXPECT_THAT(run({"run", "a.yaml", "--workers", "1", "extra"}).err,
              HasSubstr("'extra' belongs to no option"));
  EXPECT_THAT(run({"status", "surplus"}).err, HasSubstr("'surplus' belongs to no option"));
}

TEST(Commands, RunSuggestsTheSpecOfThatName) {
  const InProjectFolder there;
  const auto said = run({"run", "quick"});
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("did you mean experiments/quick.yaml?"));
}

}  // namespace commands_test
}  // namespace hyfreedp::cli
