// What `hyfreedp run` says of the studies that have no value.
#include "harness/cli/run/run_report.h"

#include <gmock/gmock.h>
#include <sstream>

#include "tests/cli/folder_world.h"

namespace hyfreedp::cli {
namespace run_report_test {

using ::testing::HasSubstr;
using ::testing::Not;

class RunReportText : public FolderTest {
 protected:
  RunReportText() : FolderTest("run_report") {}

  std::string told(const std::vector<runner::FailedStudy>& failed) {
    const auto yaml = spec_of(kFixedRow, "one", "s-1");
    fill("a", yaml);
    runner::RunReport report;
    report.failed = failed;
    std::ostringstream out, err;
    finish_run(report, *store("a"), runner::load_spec(file("spec.yaml", yaml)).value(), folder("a"), 1, out,
               err);
    return out.str();
  }
};

// What could not begin is not lost: to try again helps only once its reason is mended.
TEST_F(RunReportText, ARunThatCouldNotBeginIsNotCalledLost) {
  const auto text = told({{.cell = "a", .kind = "invalid-config", .message = "No.", .unexpected = true}});
  EXPECT_THAT(text, HasSubstr("\nNot begun; once what it needs is there, the same command tries again:\n"
                              "  a: invalid-config. No.\n"));
  EXPECT_THAT(text, Not(HasSubstr("Lost;")));
}

TEST_F(RunReportText, EachKindOfEndHasItsHeading) {
  const auto text = told({{.cell = "a", .kind = "killed", .message = "A.", .unexpected = true},
                          {.cell = "b", .kind = "diverged", .message = "B."},
                          {.cell = "c", .kind = "killed", .message = "A.", .unexpected = true}});
  EXPECT_THAT(text, HasSubstr("\nNo value, with the reason:\n  b: diverged. B.\n"));
  EXPECT_THAT(text,
              HasSubstr("\nLost; the same command tries again:\n  a and 1 further study: killed. A.\n"));
  EXPECT_THAT(text, Not(HasSubstr("Not begun;")));
}

}  // namespace run_report_test
}  // namespace hyfreedp::cli
