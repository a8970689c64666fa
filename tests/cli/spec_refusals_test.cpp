// What is wrong with a spec is said by every command that reads one, before anything is written.
#include <cstdlib>
#include <gmock/gmock.h>

#include "command_fixture.h"

namespace hyfreedp::cli {
namespace spec_refusals_test {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr const char* kSpec = R"(name: least
dataset: synthetic
model: linear
seeds: [0]
epsilon: 3
train: {sample_rate: 0.05, steps: 2, optimizer: adamw}
rows: [prodigy]
)";

class SpecRefusals : public CommandTest {
 protected:
  SpecRefusals() : CommandTest("run") {}

  std::string out_folder() const { return path("out"); }
};

TEST_F(SpecRefusals, EveryMistakeIsALine) {
  const auto wrong =
      file("wrong.yaml", "name: wrong\nmodel: linar\nseeds: [x]\nepsilon: 3\nrows: [prodgy]\n");
  for (const auto& [command, arguments] :
       {std::pair{"run", std::vector<std::string>{wrong, "--out", out_folder()}},
        std::pair{"table", std::vector<std::string>{wrong, "--out", out_folder()}},
        std::pair{"report", std::vector<std::string>{wrong, "--out", out_folder()}},
        std::pair{"replay", std::vector<std::string>{wrong, "--rows", wrong, "--out", out_folder()}}}) {
    std::ostringstream said, complained;
    auto all = arguments;
    all.insert(all.begin(), command);
    EXPECT_EQ(dispatch(all, said, complained), 2) << command;
    EXPECT_EQ(said.str(), "") << command;
    EXPECT_EQ(lines_in(complained.str()), 6) << complained.str();
    EXPECT_THAT(complained.str(), StartsWith(std::string("hyfreedp ") + command + ": " + wrong +
                                             " has 5 mistakes:\n" + wrong + ":1: 'dataset' is missing."));
    EXPECT_FALSE(std::filesystem::exists(out_folder())) << command;
  }
}

TEST_F(SpecRefusals, AMistypedFileAFolderAndOldBytes) {
  file("quick.yaml", kSpec);
  expect_refused({path("qiuck.yaml")}, {"there is no file", "did you mean " + path("quick.yaml") + "?"});
  expect_refused({folder_.string()},
                 {"is a folder, not a spec", path("quick.yaml"), "`hyfreedp list specs`"});
  expect_refused({file("latin.yaml", std::string(kSpec) + "title: caf\xE9\n"), "--out", out_folder()},
                 {"latin.yaml:8:11: the byte 0xE9", "latin.yaml > fixed.yaml`"});
  EXPECT_FALSE(std::filesystem::exists(out_folder()));
}

TEST_F(SpecRefusals, ALargeDeltaIsWarnedOfBeforeTheRun) {
  const auto tiny = file("tiny.yaml", std::string(kSpec).replace(std::string(kSpec).find("synthetic"), 9,
                                                                 "{name: synthetic, train: 100}"));
  EXPECT_EQ(run({tiny, "--dry-run", "--out", out_folder()}), 0) << err();
  EXPECT_THAT(err(), StartsWith("hyfreedp run: warning: " + tiny + ":1: delta = 0.0063 is large"));
}

// A worker is asked before the first trial, and nothing is written where it says no.
TEST_F(SpecRefusals, ADeviceThatIsNotThere) {
  const auto spec = file("least.yaml", kSpec);
  const auto worker =
      file("worker", "#!/bin/sh\n[ \"$1 $2\" = '--check-device cuda' ] && echo 'No GPU here.' >&2\nexit 2\n");
  std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  const char* before = std::getenv("HYFREEDP_WORKER");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("HYFREEDP_WORKER", worker.c_str(), 1);
  expect_refused({spec, "--device", "cuda", "--out", out_folder()}, {"hyfreedp run: no GPU here."});
  EXPECT_FALSE(std::filesystem::exists(out_folder()));
  EXPECT_EQ(run({spec, "--device", "cuda", "--dry-run", "--out", out_folder()}), 0) << "a dry run needs none";
  if (before == nullptr) {
    ::unsetenv("HYFREEDP_WORKER");
  } else {
    ::setenv("HYFREEDP_WORKER", kept.c_str(), 1);
  }
}

}  // namespace spec_refusals_test
}  // namespace hyfreedp::cli
