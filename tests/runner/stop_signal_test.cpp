// Which signals ask for a clean stop, and when another one ends the program at once.
#include "harness/runner/executors/stop_signal.h"

#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace hyfreedp::runner {
namespace stop_signal_test {

TEST(StopSignal, EachOfTheFourAsksForACleanStop) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    const StopSignal signals;
    EXPECT_FALSE(StopSignal::asked()) << number;
    ::raise(number);
    EXPECT_TRUE(StopSignal::asked()) << number;
  }
}

// `timeout` signals its child and then its group.
TEST(StopSignal, ASecondOneWithinAMomentChangesNothing) {
  const StopSignal signals;
  for (const int number : {SIGINT, SIGINT, SIGTERM}) ::raise(number);
  EXPECT_TRUE(StopSignal::asked());
}

TEST(StopSignalDeathTest, OneThatComesLaterEndsTheProgramAtOnce) {
  EXPECT_EXIT(
      {
        const StopSignal signals;
        ::raise(SIGINT);
        std::this_thread::sleep_for(kImpatience + std::chrono::milliseconds(50));
        ::raise(SIGTERM);
        ::_exit(0);
      },
      ::testing::ExitedWithCode(kExitStopped), "");
}

TEST(StopSignal, UnderNohupAHangUpIsIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  {
    const StopSignal signals;
    ::raise(SIGHUP);
    EXPECT_FALSE(StopSignal::asked());
  }
  ::raise(SIGHUP);  // ignored as before
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace stop_signal_test
}  // namespace hyfreedp::runner
