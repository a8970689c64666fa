// The command that is run when a run has ended.
#include "harness/cli/run/notify.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <thread>

#include "harness/base/files.h"

namespace hyfreedp::cli {
namespace notify_test {

using ::testing::HasSubstr;

class Notify : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::make();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
  }
  std::string file(const std::string& name) const { return folder_->path() + "/" + name; }

  std::optional<ScratchFolder> folder_;
};

TEST_F(Notify, HasItsVariablesAndNoInput) {
  ::setenv("HYFREEDP_SPEC", "of another run", 1);
  const auto told = run_notify("printf '%s|%s|%s' \"$HYFREEDP_SPEC\" \"$HYFREEDP_SUMMARY\" \"$(cat)\" > " +
                                   file("told") + "; test -n \"$PATH\"",
                               {{"HYFREEDP_SPEC", "quick"}, {"HYFREEDP_SUMMARY", "it's $over; 100 %"}});
  ::unsetenv("HYFREEDP_SPEC");
  EXPECT_TRUE(told) << told.error().message;
  EXPECT_EQ(read_file(file("told")).value(), "quick|it's $over; 100 %|");
}

// The table is on the output.
TEST_F(Notify, SpeaksOnTheErrorStream) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto told = run_notify("echo heard", {});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "heard\n");
  EXPECT_TRUE(told);
}

TEST_F(Notify, SaysHowItFailed) {
  EXPECT_THAT(run_notify("exit 3", {}).error().message, HasSubstr("--notify ended with exit code 3."));
  EXPECT_THAT(run_notify("kill -9 $$", {}).error().message, HasSubstr("--notify was ended by signal 9"));
}

// With what it started, also where it does not heed SIGTERM.
TEST_F(Notify, IsStoppedAfterItsTime) {
  const auto begin = std::chrono::steady_clock::now();
  const auto told = run_notify("trap '' TERM; (sleep 1.2; touch " + file("late") + ") & sleep 30", {},
                               std::chrono::milliseconds(200));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().message, HasSubstr("had not ended after 0.2 s and was stopped"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  EXPECT_FALSE(std::filesystem::exists(file("late")));
}

}  // namespace notify_test
}  // namespace hyfreedp::cli
