#include "harness/runner/progress.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "harness/runner/tally.h"

namespace hyfreedp::runner {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

Update progress_of(int slot, std::int64_t step) {
  Update update{.kind = Update::Kind::progress, .job = "a", .slot = slot};
  update.step = step;
  update.steps = 250;
  update.scalars = {{"eta", 0.0123}, {"private_loss", 1.75}, {"secret", 99}};
  return update;
}

TEST(Tally, CountsUnitsOnce) {
  Tally tally;
  tally.known("a", 10, false);
  tally.known("a", 10, false);
  tally.known("b", 30, false);
  tally.known("old", 50, true);
  EXPECT_EQ(tally.board().runs, 3U);
  EXPECT_EQ(tally.board().runs_over, 1U);
  EXPECT_EQ(tally.board().cost, 40);
  tally.over("a");
  tally.over("a");
  tally.over("unheard of");
  EXPECT_EQ(tally.board().runs_over, 2U);
  EXPECT_EQ(tally.board().cost_over, 10);
}

TEST(Tally, ARawLossIsNotShown) {
  Tally tally;
  tally.started(0, {.title = "open", .loss_is_released = false, .steps = 250, .cost = 1});
  tally.stepped(progress_of(0, 125));
  EXPECT_EQ(tally.board().running.at(0).step_size, 0.0123);
  EXPECT_EQ(tally.board().running.at(0).private_loss, std::nullopt);
}

TEST(Tally, ARunShowsItsStepsAndReleasedValues) {
  Tally tally;
  tally.started(0, {.title = "open", .steps = 250, .cost = 1});
  tally.stepped(progress_of(0, 125));
  EXPECT_EQ(tally.board().running.at(0).step_size, 0.0123);
  const auto lines = live_lines(tally.board(), 10, 200);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[1], HasSubstr("125/250"));
  EXPECT_THAT(lines[1], HasSubstr("η 0.0123"));
  EXPECT_THAT(lines[1], HasSubstr("private loss 1.75"));
  for (const auto& line : lines) EXPECT_THAT(line, Not(HasSubstr("99")));
}

// From its first run to its end a selection shows the same line: whatever its runs, on however many workers, at whichever step.
TEST(Tally, APrivateSelectionShowsThatItIsUnderWayAlone) {
  Tally tally;
  tally.known("study a", 1, false);
  tally.hide_times();
  std::set<std::vector<std::string>> shown;
  const auto look = [&] {
    shown.insert(live_lines(tally.board(), 10.0 * static_cast<double>(shown.size()), 200));
  };
  for (int run = 0; run < 5; ++run) {
    for (const int slot : {0, 1}) {
      tally.selecting("study a", "linear, dp-hyper");
      tally.stepped(progress_of(slot, 125 + run));
      look();
    }
    tally.ended(0);
    look();
    tally.ended(1);
    look();
  }
  ASSERT_THAT(shown, SizeIs(1));
  const auto lines = *shown.begin();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[1], HasSubstr("linear, dp-hyper"));
  EXPECT_THAT(lines[1], HasSubstr("private selection"));
  for (const char* told : {"step", "125", "0.0123", "1.75", "left"}) {
    EXPECT_THAT(lines[0] + lines[1], Not(HasSubstr(told)));
  }
  tally.over("study a");
  EXPECT_THAT(live_lines(tally.board(), 10, 200), SizeIs(1));
}

// One line every five seconds would tell how long it took.
TEST(Progress, WithoutTimesAPlainLineComesOnlyWithNews) {
  Board board{.phase = "training", .cells = 3, .runs = 3};
  EXPECT_NE(plain_line(board, 1), plain_line(board, 100));
  board.hides_times = true;
  EXPECT_EQ(plain_line(board, 1), plain_line(board, 100));
  std::ostringstream out;
  Progress progress(out, Progress::Style::plain, std::chrono::milliseconds(0));
  for (const char* phase : {"training", "stopping", "stopping"}) {
    board.phase = phase;
    progress.show(board);
  }
  board.phase = "training";
  progress.show(board);
  progress.show(board);
  EXPECT_EQ(out.str(),
            "training: 0/3 runs, 0/3 cells\nstopping: 0/3 runs, 0/3 cells\ntraining: 0/3 runs, 0/3 cells\n");
}

TEST(Progress, TimeLeftFollowsThePace) {
  Board board{.cost = 100, .cost_over = 20};
  EXPECT_EQ(seconds_left(board, 10), 40);
  board.running[0] = {.step = 1, .steps = 2, .cost = 60};
  EXPECT_EQ(seconds_left(board, 10), 10);
  board.cost_over = 0;
  board.running.clear();
  EXPECT_EQ(seconds_left(board, 10), std::nullopt);
  EXPECT_EQ(seconds_left({.cost = 100, .cost_over = 100}, 10), std::nullopt);
}

TEST(Progress, LinesFitTheTerminal) {
  Board board{.phase = "training", .cells = 288, .runs = 500, .cost = 1};
  board.running[0] = {
      .title = "linear, hyfreedp-separate, ε 3, seed 0", .step = 1, .steps = 250, .step_size = 1e-4};
  for (const std::size_t width : {std::size_t{0}, std::size_t{1}, std::size_t{20}, std::size_t{79}}) {
    for (const auto& line : live_lines(board, 1, width)) {
      const auto characters =
          std::count_if(line.begin(), line.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
      EXPECT_LE(static_cast<std::size_t>(characters), width);
    }
  }
}

TEST(Progress, PlainOutputHasNoControlCharacters) {
  std::ostringstream out;
  {
    Progress progress(out, Progress::Style::plain);
    progress.show({.phase = "planning"});
    progress.show({.phase = "planning"});
    progress.show({.phase = "training", .cells = 3, .cells_over = 1, .runs = 4, .runs_over = 2});
    progress.say("a line");
  }
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(out.str(), HasSubstr("training: 2/4 runs, 1/3 cells"));
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(Progress, TheLiveBlockIsRemoved) {
  std::ostringstream out;
  {
    Progress progress(out, Progress::Style::live);
    progress.show({.phase = "training"});
  }
  EXPECT_THAT(out.str(), ::testing::EndsWith("\x1b[1A\x1b[J"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b[36m")));
}

TEST(Progress, QuietIsSilent) {
  std::ostringstream out;
  Progress progress(out, Progress::Style::none);
  progress.show({.phase = "training"});
  progress.say("a line");
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace hyfreedp::runner
