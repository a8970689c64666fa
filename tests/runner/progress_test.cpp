#include "harness/runner/progress/progress.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <vector>

#include "harness/runner/progress/tally.h"

namespace hyfreedp::runner {
namespace progress_test {

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

// Of two kinds of method on one task.
Work work(double planned, const std::string& method = "m") { return {{"cpu", "task", method}, planned}; }

TEST(Tally, CountsUnitsOnce) {
  Tally tally;
  tally.known("a", work(10), false);
  tally.known("a", work(10), false);
  tally.known("b", work(30), false);
  tally.known("old", work(50), true);
  EXPECT_EQ(tally.board().runs, 3U);
  EXPECT_EQ(tally.board().runs_over, 1U);
  EXPECT_EQ(tally.board().left, 40);
  tally.over("a");
  tally.over("a");
  tally.over("unheard of");
  EXPECT_EQ(tally.board().runs_over, 2U);
  EXPECT_EQ(tally.board().done, 10);
  EXPECT_EQ(tally.board().left, 30);
}

TEST(Tally, ARawLossIsNotShown) {
  Tally tally;
  tally.started(0, {.title = "open", .loss_is_released = false, .steps = 250});
  tally.stepped(progress_of(0, 125));
  EXPECT_EQ(tally.board().running.at(0).step_size, 0.0123);
  EXPECT_EQ(tally.board().running.at(0).private_loss, std::nullopt);
}

TEST(Tally, ARunShowsItsStepsAndReleasedValues) {
  Tally tally;
  tally.started(0, {.title = "open", .steps = 250});
  tally.stepped(progress_of(0, 125));
  EXPECT_EQ(tally.board().running.at(0).step_size, 0.0123);
  const auto lines = live_lines(tally.board(), 10, 200);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[1], HasSubstr("125/250"));
  EXPECT_THAT(lines[1], HasSubstr("η 0.0123"));
  EXPECT_THAT(lines[1], HasSubstr("private loss 1.75"));
  for (const auto& line : lines) EXPECT_THAT(line, Not(HasSubstr("99")));
}

// From its first run to its end a selection shows the same line: whatever its runs, on however many
// workers, at whichever step.
TEST(Tally, APrivateSelectionShowsThatItIsUnderWayAlone) {
  Tally tally;
  tally.known("study a", work(1), false, 4);
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
    tally.ended(0, true, 1);
    look();
    tally.ended(1, true, 1);
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
  EXPECT_EQ(
      out.str(),
      "training: 0/3 runs, 0/3 studies\nstopping: 0/3 runs, 0/3 studies\ntraining: 0/3 runs, 0/3 studies\n");
}

// A day on which nothing happens but what the test says.
class TimeLeft : public ::testing::Test {
 protected:
  double now_ = 0;
  Tally tally_{2, [this] { return now_; }};

  void run(int slot, const std::string& unit, double seconds) {
    tally_.started(slot, {.title = unit, .steps = 100}, unit);
    now_ += seconds;
    tally_.over(unit);
    tally_.ended(slot, true, seconds);
  }
  void step(int slot, std::int64_t step) {
    Update update{.kind = Update::Kind::progress, .job = "", .slot = slot};
    update.step = step;
    update.steps = 100;
    tally_.stepped(update);
  }
};

TEST_F(TimeLeft, IsNotKnownBeforeAnythingWasMeasured) {
  tally_.known("a", work(10), false);
  EXPECT_EQ(tally_.board().seconds_left, std::nullopt);
}

// Dear runs come first, and their pace says nothing of runs that compute little and take long: what
// took four minutes was said to take less than one.
TEST_F(TimeLeft, WeighsKindsOfRunsByWhatTheyTook) {
  for (int i = 0; i < 4; ++i) tally_.known(fmt::format("dear {}", i), work(100, "dear"), false);
  for (int i = 0; i < 60; ++i) tally_.known(fmt::format("cheap {}", i), work(1, "cheap"), false);
  for (int i = 0; i < 4; ++i) run(0, fmt::format("dear {}", i), 100);
  EXPECT_NEAR(tally_.board().seconds_left.value(), 60 * 1 / 2.0, 1e-9);  // the best guess so far
  run(0, "cheap 0", 8);
  EXPECT_NEAR(tally_.board().seconds_left.value(), 59 * 8 / 2.0, 1e-9);
  EXPECT_NEAR(tally_.board().done, 408, 1e-9);
}

TEST_F(TimeLeft, KnowsFromEarlierRunsWhatAKindTakes) {
  Pace earlier;
  earlier.measure(work(1, "cheap"), 8);
  earlier.measure(work(100, "dear"), 200);
  tally_.earlier(earlier);
  tally_.known("dear", work(100, "dear"), false);
  tally_.known("cheap", work(1, "cheap"), false);
  EXPECT_NEAR(tally_.board().seconds_left.value(), (200 + 8) / 2.0, 1e-9);
  run(0, "dear", 100);  // what is measured now counts before
  tally_.known("another", work(100, "dear"), false);
  EXPECT_NEAR(tally_.board().seconds_left.value(), (100 + 8) / 2.0, 1e-9);
}

TEST_F(TimeLeft, GoesOnWhileARunIsUnderWay) {
  tally_.known("a", work(10), false);
  tally_.known("b", work(10), false);
  tally_.started(0, {.title = "a", .steps = 100}, "a");
  step(0, 25);
  now_ = 50;  // so the whole takes 200
  EXPECT_NEAR(tally_.board().seconds_left.value(), 175, 1e-9);
  tally_.over("b");
  EXPECT_NEAR(tally_.board().seconds_left.value(), 150, 1e-9);  // no run is shared by two workers
  step(0, 75);
  now_ = 150;
  EXPECT_NEAR(tally_.board().seconds_left.value(), 50, 1e-9);
}

// The mean of a private selection's number of runs is public; how many it made must not be read off
// the time.
TEST_F(TimeLeft, OfAPrivateSelectionDoesNotTellTheNumberOfRuns) {
  const auto seen = [](int runs) {
    double now = 0;
    Tally tally(1, [&] { return now; });
    std::vector<double> shown;
    const auto look = [&] {
      const auto& board = tally.board();
      shown.insert(shown.end(), {board.seconds_left.value_or(-1), board.done, board.left,
                                 static_cast<double>(board.runs), static_cast<double>(board.runs_over)});
    };
    tally.known("open", work(10), false);
    tally.known("study s", work(10), false, 4);
    tally.started(0, {.title = "open", .steps = 100}, "open");
    now += 20;
    tally.over("open");
    tally.ended(0, true, 20);
    look();
    const std::vector<double> before = shown;
    for (int run = 0; run < runs; ++run) {
      for (const bool is_over : {false, true}) {
        if (is_over) {
          tally.ended(0, true, 100.0 / runs);
        } else {
          tally.selecting("study s", "s");
          now += 100.0 / runs;
        }
        shown.clear();
        look();
        EXPECT_EQ(shown, before) << "run " << run << " of " << runs;
      }
    }
    tally.over("study s");
    look();
    return shown;
  };
  EXPECT_EQ(seen(1), seen(7));
  EXPECT_EQ(seen(1).front(), 80);  // 4 runs of 20
}

TEST(Progress, LinesFitTheTerminal) {
  Board board{.phase = "training", .cells = 288, .runs = 500, .left = 1};
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

// What a narrow terminal cuts off is not what one looks for.
TEST(Progress, TheTimeLeftStandsWithinEightyColumns) {
  Board board{.phase = "training",
              .cells = 288,
              .cells_over = 120,
              .runs = 12345,
              .runs_over = 10000,
              .left = 1,
              .seconds_left = 3.5 * 3600};
  board.planning = true;
  EXPECT_THAT(live_lines(board, 7200, 80).front(), HasSubstr("at least 3 h 30 min left"));
  EXPECT_EQ(plain_line(board, 7200),
            "training: at least 3 h 30 min left; 10000/12345+ runs, 120/288 studies; 2 h 00 min");
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
  EXPECT_THAT(out.str(), HasSubstr("training: 2/4 runs, 1/3 studies"));
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

}  // namespace progress_test
}  // namespace hyfreedp::runner
