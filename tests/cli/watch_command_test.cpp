// What `hyfreedp watch` shows of a folder in which a run is under way, is over, or was killed.
#include <cmath>
#include <gmock/gmock.h>

#include "harness/cli/run/watched_run.h"
#include "harness/runner/progress/snapshot.h"
#include "tests/cli/folder_world.h"

namespace hyfreedp::cli {
namespace watch_command_test {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Watch : public FolderTest {
 protected:
  Watch() : FolderTest("watch") {}

  // A run of the row that was interrupted after some steps, as a board shows it.
  runner::Board board_of_interrupted(const std::string& rows, const std::string& noise_seed = "") const {
    fill_killed("out", spec_of(rows, "hidden", noise_seed));
    runner::Board board{.phase = "training", .cells = 2, .cells_over = 1, .runs = 2, .done = 1, .left = 1};
    board.seconds_left = 42;
    for (const auto& entry : std::filesystem::directory_iterator(folder("out").journals())) {
      if (entry.path().extension() != ".jsonl") continue;
      const int slot = static_cast<int>(board.running.size());
      board.running[slot] = {.trial = entry.path().stem(),
                             .title = "small, row, ε 3, seed 0",
                             .delta = 1e-5,
                             .step = 2,
                             .steps = 6};
      board.running[slot].steps_per_second = 12.5;
    }
    return board;
  }
  std::string journal(const runner::Board& board) const {
    return folder("out").journal(board.running.at(0).trial);
  }

  std::string watch_once(std::vector<std::string> further = {}) {
    further.insert(further.end(), {"--once", "--out", path("out")});
    EXPECT_EQ(run(further), 0) << err();
    return out();
  }
};

TEST_F(Watch, ShowsARunWithItsCurvesAndItsEpsilon) {
  const auto board = board_of_interrupted(kFixedRow);
  const auto lock = runner::FolderLock::acquire(folder("out")).value();
  runner::SnapshotWriter snapshot(folder("out"), "hidden");
  snapshot.board(board);
  const auto shown = watch_once();
  EXPECT_THAT(shown, HasSubstr("50 %  about 42.0 s left  hidden: training  0/2 runs, 1/2 studies"));
  EXPECT_THAT(shown, HasSubstr("about 42.0 s left"));
  EXPECT_THAT(shown, HasSubstr("small, row, ε 3, seed 0: step 2/6, 12.5 steps/s, ε 3.00 booked (δ 1e-05)"));
  EXPECT_THAT(shown, HasSubstr("step size η   ▁▁"));
  EXPECT_THAT(shown, HasSubstr("0.5\n"));
  EXPECT_THAT(shown, HasSubstr("of the run alone, steps booked so far"));
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
  EXPECT_EQ(watch_once({"hidden"}).substr(0, 40), shown.substr(0, 40));
}

// Its journal has them: values that are no release, and losses without noise.
TEST_F(Watch, ShowsReleasedAndTestValuesAlone) {
  for (const bool is_private : {true, false}) {
    std::filesystem::remove_all(path("out"));
    auto text = spec_of(kFixedRow, "hidden", "s");
    if (!is_private) text.replace(text.find("epsilon: [3]"), 12, "epsilon: [inf]");
    fill_killed("out", text);
    auto board = runner::Board{.phase = "training"};
    for (const auto& entry : std::filesystem::directory_iterator(folder("out").journals())) {
      if (entry.path().extension() == ".jsonl")  // beside it lies the release record
        board.running[0] = {.trial = entry.path().stem(), .title = "t", .delta = 1e-5};
    }
    {
      auto config = mechanism::read_journal(journal(board)).value().config;
      config.dataset = {"fashion-mnist", {{"features", "hog"}}};  // generated data are nobody's
      board.running[0].trial = config.id();
      const auto writer =
          mechanism::JournalWriter::open(journal(board), config, {{"machine", "fake"}}).value();
      for (std::int64_t step = 0; step < 4; ++step) {
        ASSERT_TRUE(writer->ensure_booked(step));
        ASSERT_TRUE(writer->step(
            {step, "hash", {{"eta", 0.5}, {"private_loss", 2.0 - 0.25 * static_cast<double>(step)}}},
            {"gradient"}));
        const double value = 0.25 * static_cast<double>(step);
        ASSERT_TRUE(writer->metric({step, "test", "accuracy", value, trial::Visibility::test}));
        ASSERT_TRUE(
            writer->metric({step, "private_validation", "accuracy", 0.111, trial::Visibility::confidential}));
        ASSERT_TRUE(writer->metric({step, "test", "secret", 0.111, trial::Visibility::confidential}));
      }
    }
    const auto lock = runner::FolderLock::acquire(folder("out")).value();
    runner::SnapshotWriter snapshot(folder("out"), "hidden");
    snapshot.board(board);
    const auto shown = watch_once();
    EXPECT_THAT(shown, HasSubstr("test accuracy ▁▃▆█"));
    EXPECT_THAT(shown, HasSubstr("75.0 %  (0.0 to 75.0)"));
    EXPECT_THAT(shown, Not(HasSubstr("11.1")));
    EXPECT_THAT(shown, Not(HasSubstr("0.111")));
    if (is_private) {
      EXPECT_THAT(shown, HasSubstr("private loss  █▆▃▁"));
      EXPECT_THAT(shown, HasSubstr("1.25  (1.25 to 2)"));
      EXPECT_THAT(shown, HasSubstr("reproducible noise: not a private release"));
    } else {
      EXPECT_THAT(shown, Not(HasSubstr("loss")));
      EXPECT_THAT(shown, HasSubstr("no privacy"));
      EXPECT_THAT(shown, Not(HasSubstr("reproducible")));
    }
  }
}

TEST_F(Watch, OfAPrivateSelectionItShowsThatItIsUnderWay) {
  fill("out", spec_of(kSelectionRow));
  const auto lock = runner::FolderLock::acquire(folder("out")).value();
  runner::SnapshotWriter snapshot(folder("out"), "hidden");
  runner::Board board{.phase = "training", .cells = 2, .runs = 2, .left = 1, .hides_times = true};
  board.seconds_left = 42;
  board.selections["study"] = "small, dp-hyper, ε 3, seed 0";
  board.running[0] = {.trial = "none", .title = "small, open", .step = 2, .steps = 6};
  board.running[0].steps_per_second = 12.5;
  snapshot.board(board);
  const auto shown = watch_once();
  EXPECT_THAT(shown, HasSubstr("small, dp-hyper, ε 3, seed 0"));
  EXPECT_THAT(shown, HasSubstr("private selection"));
  EXPECT_THAT(shown, HasSubstr("cannot read the journal"));
  for (const char* told : {"about", "12.5", "steps/s", "left"}) EXPECT_THAT(shown, Not(HasSubstr(told)));
}

TEST_F(Watch, OfARunThatIsOverItPrintsASummary) {
  fill("out", spec_of(kFixedRow));
  EXPECT_EQ(watch_once(), "hidden  1 study: 1 concluded, 0 open, 0 failed\n");
  EXPECT_EQ(watch_once({"hidden"}), "hidden  1 study: 1 concluded, 0 open, 0 failed\n");
  EXPECT_EQ(watch_once({file("watched.yaml", spec_of(kFixedRow))}), out());
}

TEST_F(Watch, ARunThatWasKilledIsExitCodeOne) {
  const auto board = board_of_interrupted(kFixedRow);
  // No writer: its end would remove the file.
  write_file_atomically(folder("out").progress(),
                        canonical_json(as_json(runner::snapshot_of(board, "hidden", 1))))
      .value();
  EXPECT_EQ(run({"--once", "--out", path("out")}), 1);
  EXPECT_THAT(err(), HasSubstr("the process that ran hidden was killed"));
  EXPECT_THAT(out(), StartsWith("hidden  1 study: "));
}

// It lies there from before, until the present one writes its own.
TEST_F(Watch, ASnapshotOfAnotherProcessIsNotShown) {
  const auto board = board_of_interrupted(kFixedRow);
  auto old = runner::snapshot_of(board, "hidden", 1);
  old.process = 1;
  write_file_atomically(folder("out").progress(), canonical_json(as_json(old))).value();
  const auto lock = runner::FolderLock::acquire(folder("out")).value();
  EXPECT_THAT(watch_once(), HasSubstr("no run is under way"));
}

TEST_F(Watch, AnotherSpecsRunIsNamed) {
  fill("out", spec_of(kFixedRow));
  const auto lock = runner::FolderLock::acquire(folder("out")).value();
  runner::SnapshotWriter snapshot(folder("out"), "other");
  snapshot.board({.phase = "training"});
  EXPECT_THAT(watch_once({"hidden"}), HasSubstr("1 concluded, 0 open, 0 failed\nProcess "));
  EXPECT_THAT(out(), HasSubstr(" works on other now.\n"));
}

TEST_F(Watch, RefusesWhatIsNotThere) {
  expect_refused({"--once", "--out", path("absent")}, {path("absent")});
  fill("out", spec_of(kFixedRow));
  expect_refused({"absent", "--once", "--out", path("out")}, {"has no spec 'absent'"});
  for (const char* interval : {"0", "x", "1e9", "nan"})
    expect_refused({"--interval", interval, "--out", path("out")}, {"--interval"});
  expect_refused({"hidden", "--preset", "p", "--out", path("out")}, {"--preset is of a spec's file"});
}

TEST(BlockLine, GoesFromTheLeastToTheGreatest) {
  const auto nan = std::nan("");
  EXPECT_EQ(block_line({}, 10), "");
  EXPECT_EQ(block_line({3, 3, 3}, 10), "▁▁▁");
  EXPECT_EQ(block_line({0, 7}, 10), "▁█");
  EXPECT_EQ(block_line({7, 6, 5, 4, 3, 2, 1, 0}, 8), "█▇▆▅▄▃▂▁");
  EXPECT_EQ(block_line({0, 2, 6, 8}, 2), "▁█") << "means of two";
  EXPECT_EQ(block_line({0, nan, 1}, 10), "▁ █");
  EXPECT_EQ(block_line({0, 2, nan, 8}, 2), "▁█") << "of what is a number";
}

TEST(WatchedLines, FitTheTerminal) {
  WatchedView view{.title = "linear, hyfreedp-separate, ε 3, seed 0", .step = 1, .steps = 250};
  view.curves.push_back({.title = "private loss", .values = std::vector<double>(500, 1.5)});
  for (const std::size_t width : {std::size_t{0}, std::size_t{10}, std::size_t{79}, std::size_t{300}}) {
    for (const auto& line : lines_of(view, width)) {
      const auto characters = std::ranges::count_if(line, [](char byte) { return (byte & 0xC0) != 0x80; });
      EXPECT_LE(static_cast<std::size_t>(characters), width);
    }
  }
}

}  // namespace watch_command_test
}  // namespace hyfreedp::cli
