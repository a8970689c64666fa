// What `hyfreedp verify` says of files that hold no cell.
#include <gtest/gtest.h>

#include "tests/cli/command_fixture.h"

namespace hyfreedp::cli {
namespace verify_command_test {

class VerifyCommand : public CommandTest {
 protected:
  VerifyCommand() : CommandTest("verify") {}
};

TEST_F(VerifyCommand, SaysWhichFileItWants) {
  const auto spec = file("spec.yaml", "name: least\n");
  expect_refused({spec}, {"verify wants the file that `hyfreedp export-cell` writes, not " + spec,
                          "A spec is checked by `hyfreedp run " + spec + " --dry-run`."});
  for (const char* text : {"name", "{}", "[]", R"({"format": "other", "format_version": 1})"}) {
    expect_refused({file("cell.json", text)},
                   {"cell.json: ", "; verify wants the file that `hyfreedp export-cell` writes."});
  }
  expect_refused({folder_}, {folder_.string() + " is a folder; verify wants the file that",
                             "`hyfreedp archive --check " + folder_.string() + "`"});
}

}  // namespace verify_command_test
}  // namespace hyfreedp::cli
