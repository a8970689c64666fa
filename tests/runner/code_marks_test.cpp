// The marks of the code are made from a copy of the sources, of which a test changes one.
#include "harness/trial/code_marks.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

#include "baselines/baseline.h"
#include "harness/base/files.h"
#include "optimizers/facts.h"

namespace hyfreedp::runner {
namespace code_marks_test {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

using Marks = std::map<std::string, std::string>;  // "optimizer adamw": hash

class Sources : public ::testing::Test {
 protected:
  Sources() {
    std::string pattern = ::testing::TempDir() + "hyfreedp-code-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    for (const char* room : {"harness", "optimizers", "baselines", "datasets"})
      fs::copy(fs::path(HYFREEDP_SOURCE_DIR) / room, folder_ / room, fs::copy_options::recursive);
  }
  ~Sources() override { fs::remove_all(folder_); }

  Marks marks() const {
    const auto header = (folder_ / "marks.h").string();
    const auto command = "python3 " HYFREEDP_SOURCE_DIR "/harness/build/code_marks.py '" + folder_.string() +
                         "' '" + header + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    const auto text = read_file(header).value();
    Marks found;
    const std::regex line("\\{\"([^\"]+)\", \"([^\"]*)\", \"([0-9a-f]{16})\"\\}");
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at)
      found[(*at)[1].str() + " " + (*at)[2].str()] = (*at)[3].str();
    return found;
  }
  void change(const std::string& file) const {
    std::ofstream(folder_ / file, std::ios::app) << "// changed\n";
  }
  // Which marks change with the file; `before` is what they were.
  std::vector<std::string> after_change(const std::string& file, Marks& before) const {
    change(file);
    auto now = marks();
    return changed(std::exchange(before, now), now);
  }
  // What `now` has otherwise than `before`.
  static std::vector<std::string> changed(const Marks& before, const Marks& now) {
    std::vector<std::string> names;
    for (const auto& [name, hash] : now) {
      const auto found = before.find(name);
      if (found == before.end() || found->second != hash) names.push_back(name);
    }
    return names;
  }

  fs::path folder_;
};

TEST_F(Sources, EveryRegisteredEntryHasAMark) {
  const auto all = marks();
  for (const char* part : {"engine ", "models ", "datasets "}) EXPECT_TRUE(all.contains(part)) << part;
  for (const auto& method : baselines::registry())
    EXPECT_TRUE(all.contains("method " + method.name)) << method.name;
  for (const auto& facts : optimizers::optimizer_facts())
    EXPECT_TRUE(all.contains("optimizer " + facts.name)) << facts.name;
  for (const auto& facts : optimizers::controller_facts())
    EXPECT_TRUE(all.contains("controller " + facts.name)) << facts.name;
}

TEST_F(Sources, AChangeMarksWhatItIsIn) {
  auto before = marks();
  EXPECT_THAT(after_change("optimizers/prodigy.cpp", before), UnorderedElementsAre("optimizer prodigy"));
  EXPECT_THAT(after_change("baselines/hyfreedp.cpp", before), ::testing::Contains("method hyfreedp"));
  EXPECT_THAT(after_change("harness/training/clipping.cpp", before), UnorderedElementsAre("engine "));
  EXPECT_THAT(after_change("harness/models/layers/linear.cpp", before), UnorderedElementsAre("models "));
  EXPECT_THAT(after_change("datasets/adult.cpp", before), UnorderedElementsAre("datasets "));
  // A file that an entry includes is its code too.
  EXPECT_THAT(after_change("optimizers/quadratic_fit.cpp", before),
              ::testing::IsSupersetOf({"controller hyfreedp", "controller gen"}));
  // None of these trains.
  EXPECT_THAT(after_change("harness/cli/main.cpp", before), ::testing::IsEmpty());
  EXPECT_THAT(after_change("harness/training/audit/audit_run.cpp", before), ::testing::IsEmpty());
}

// A method's code may lie in a header beside it, or in a second source that nothing includes.
TEST_F(Sources, CodeOutsideTheFilePairIsMarkedToo) {
  const auto add = [&](const std::string& file, const std::string& text) {
    std::ofstream(folder_ / file, std::ios::app) << text;
  };
  add("optimizers/prodigy_core.h", "#pragma once\n");
  add("optimizers/prodigy.cpp", "#include \"prodigy_core.h\"\n");
  add("optimizers/prodigy_more.cpp", "#include \"optimizers/prodigy.h\"\n");
  auto before = marks();
  EXPECT_THAT(after_change("optimizers/prodigy_core.h", before), UnorderedElementsAre("optimizer prodigy"));
  // Of which entry it is, nobody knows.
  EXPECT_THAT(after_change("optimizers/prodigy_more.cpp", before), ::testing::Contains("optimizer prodigy"));
  // Defaults are in a run's config, or never change; a header is code of whoever includes it.
  EXPECT_THAT(after_change("optimizers/facts.cpp", before), ::testing::IsEmpty());
  EXPECT_THAT(after_change("optimizers/options.h", before), ::testing::IsEmpty());
  EXPECT_THAT(after_change("optimizers/facts.h", before), ::testing::Contains("optimizer sgd"));
}

TEST_F(Sources, AnotherEntryLeavesTheMarksOfTheRest) {
  const auto before = marks();
  const auto with = [&](const std::string& file, const std::string& from, const std::string& to) {
    auto text = read_file((folder_ / file).string()).value();
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << file;
    text.insert(at, to);
    std::ofstream(folder_ / file) << text;
  };
  for (const char* ending : {".h", ".cpp"}) {
    auto text = read_file((folder_ / ("optimizers/template" + std::string(ending))).string()).value();
    text = std::regex_replace(std::regex_replace(text, std::regex("template\\.h"), "own.h"),
                              std::regex("signum"), "own");
    std::ofstream(folder_ / ("optimizers/own" + std::string(ending))) << text;
  }
  with("optimizers/registry.cpp", "#include \"optimizers/prodigy.h\"", "#include \"optimizers/own.h\"\n");
  with("optimizers/registry.cpp", "    // New optimizers go above", "    {\"own\", make_own},\n");
  EXPECT_THAT(changed(before, marks()), UnorderedElementsAre("optimizer own"));
}

}  // namespace code_marks_test
}  // namespace hyfreedp::runner
