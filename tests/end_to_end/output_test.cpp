// What is printed arrives, or the exit code says that it did not.
#include <sys/stat.h>

#include "harness/base/program.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace output_test {

using ::testing::HasSubstr;

class Output : public Program {
 protected:
  ProgramEnd shell(const std::string& line) const {
    return run_program({.program = "sh", .arguments = {"-c", line}, .folder = folder_.string()}).value();
  }
};

TEST_F(Output, AFullDiskIsNoSuccess) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "SKIPPED: there is no /dev/full";
  for (const char* arguments :
       {"--help", "--version", "run --help", "list methods", "list models --json",
        "epsilon --sample-rate 0.1 --noise-multiplier 1 --steps 10 --delta 1e-5", "completion bash"}) {
    const auto ended = shell(kProgram + " " + arguments + " > /dev/full");
    EXPECT_EQ(ended.exit_code, 1) << arguments;
    EXPECT_THAT(ended.errors, HasSubstr("standard output cannot be written (No space left on device)"))
        << arguments;
  }
  EXPECT_EQ(shell(kProgram + " --version >&-").exit_code, 1);
}

TEST_F(Output, AReaderThatGoesAwayIsNotTalkedAbout) {
  EXPECT_EQ(shell(kProgram + " list models | true").errors, "");
  // Where the signal is ignored, as by some schedulers.
  EXPECT_EQ(shell("trap '' PIPE; " + kProgram + " list models | true").errors, "");
}

// The number of a closed standard file must not go to a file that is opened later.
TEST_F(Output, AClosedOutputIsNotTheDatabase) {
  const auto spec = fs::absolute(kSmoke).string();
  const auto ended = shell(kProgram + " run " + spec + " --out out --quiet >&- 2>&-");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(run({"status", "--out", "out"}).code, 0);
}

}  // namespace output_test
}  // namespace hyfreedp::end_to_end
