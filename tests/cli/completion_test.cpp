// The completion script, sourced by a bash: what it offers is what each command's --help lists.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <set>
#include <sstream>

#include "command_fixture.h"
#include "harness/base/text.h"

namespace hyfreedp::cli {
namespace completion_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Completion : public CommandTest {
 protected:
  Completion() : CommandTest("completion") {}

  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run({"bash"}), 0) << err();
    script_ = file("hyfreedp.bash", out());
  }

  // What bash offers for the last of these words; one line a call, so that one shell serves many.
  std::vector<std::set<std::string>> all_offered(const std::vector<std::vector<std::string>>& lines) {
    std::string program = fmt::format("source '{}'\ncd '{}'\n", script_, folder_.string());
    for (const auto& words : lines) {
      std::string quoted;
      for (const auto& word : words) quoted += " '" + word + "'";
      program +=
          fmt::format("COMP_WORDS=(hyfreedp{})\nCOMP_CWORD={}\n_hyfreedp\necho \"${{COMPREPLY[@]}}\"\n",
                      quoted, words.size());
    }
    const auto path = file("ask.bash", program);
    std::vector<std::set<std::string>> answers;
    FILE* pipe = ::popen(("bash --norc '" + path + "' 2>&1").c_str(), "r");
    std::string text;
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
    EXPECT_EQ(::pclose(pipe), 0) << text;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
      std::istringstream parts(line);
      answers.emplace_back(std::istream_iterator<std::string>(parts), std::istream_iterator<std::string>());
    }
    EXPECT_EQ(answers.size(), lines.size()) << text;
    answers.resize(lines.size());
    return answers;
  }
  std::set<std::string> offered(const std::vector<std::string>& words) {
    return all_offered({words}).front();
  }

  // The long options that --help of a command, or of a part of it, lists.
  static std::set<std::string> options_in_help_of(std::vector<std::string> place) {
    place.emplace_back("--help");
    std::ostringstream out, err;
    EXPECT_EQ(dispatch(place, out, err), 0) << err.str();
    std::set<std::string> options;
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) {
      const auto dashes = line.find("--");
      if (line.rfind("  -", 0) != 0 || dashes == std::string::npos) continue;
      options.insert(line.substr(dashes, line.find_first_of(" \t", dashes) - dashes));
    }
    return options;
  }

  std::string script_;
};

TEST_F(Completion, OffersEveryCommand) {
  std::set<std::string> names = {"help", "--help", "--version"};
  for (const auto& command : commands()) names.insert(command.name);
  EXPECT_EQ(offered({""}), names);
  EXPECT_THAT(offered({"tab"}), ElementsAre("table"));
  EXPECT_THAT(offered({"help", "cal"}), ElementsAre("calibrate"));
}

TEST_F(Completion, OffersEveryOptionOfEveryCommand) {
  std::vector<std::vector<std::string>> places;
  for (const auto& command : commands()) places.push_back({command.name});
  for (const char* part : {"list", "info", "path", "fetch", "verify"}) places.push_back({"data", part});
  for (const char* part : {"events", "rows", "values"}) places.push_back({"export", part});
  for (const char* part : {"spec", "baseline", "optimizer", "controller", "dataset"})
    places.push_back({"new", part});
  auto lines = places;
  for (auto& line : lines) line.emplace_back("--");
  const auto answers = all_offered(lines);
  std::size_t options = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto help = options_in_help_of(places[i]);
    if (help.empty()) help.insert("--help");  // of a command of several parts
    EXPECT_EQ(answers[i], help) << join(places[i], " ");
    options += help.size();
  }
  EXPECT_GT(options, 100u);
}

TEST_F(Completion, OffersPartsAndWords) {
  EXPECT_THAT(offered({"data", ""}), ElementsAre("fetch", "info", "list", "path", "verify"));
  EXPECT_THAT(offered({"export", "v"}), ElementsAre("values"));
  EXPECT_THAT(offered({"list", "o"}), ElementsAre("optimizers"));
  EXPECT_THAT(offered({"list", "methods", "o"}), IsEmpty());
  EXPECT_THAT(offered({"completion", ""}), ElementsAre("bash", "zsh"));
}

TEST_F(Completion, OffersWhatAnOptionsValueMayBe) {
  file("spec.yaml", "");
  std::filesystem::create_directories(folder_ / "specs");
  EXPECT_THAT(offered({"run", "--device", ""}), ElementsAre("cpu", "cuda"));
  EXPECT_THAT(offered({"table", "--format", "t"}), ElementsAre("terminal", "tex", "tex-table"));
  EXPECT_THAT(offered({"run", "--out", "sp"}), ElementsAre("specs"));
  EXPECT_THAT(offered({"replay", "--rows", "sp"}), ElementsAre("spec.yaml", "specs"));
  EXPECT_THAT(offered({"run", "--workers", ""}), IsEmpty());
  EXPECT_THAT(offered({"run", "sp"}), ElementsAre("spec.yaml", "specs"));
  EXPECT_THAT(offered({"run", "spec.yaml", "--qu"}), ElementsAre("--quiet"));
  EXPECT_THAT(offered({"export", "rows", "sp"}), ElementsAre("spec.yaml", "specs"));
}

TEST_F(Completion, IsForTwoShells) {
  ASSERT_EQ(run({"zsh"}), 0);
  EXPECT_NE(out().find("bashcompinit"), std::string::npos);
  expect_refused({}, {"say which shell: bash or zsh"});
  expect_refused({"fish"}, {"say which shell"});
}

}  // namespace completion_test
}  // namespace hyfreedp::cli
