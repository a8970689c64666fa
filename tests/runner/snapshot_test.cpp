// What another process can read of a run under way.
#include "harness/runner/progress/snapshot.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

#include "harness/base/files.h"
#include "harness/runner/progress/tally.h"

namespace hyfreedp::runner {
namespace snapshot_test {

using ::testing::HasSubstr;
using ::testing::Not;

Board busy_board() {
  Board board{.phase = "training", .cells = 3, .cells_over = 1, .runs = 4, .done = 1, .left = 3};
  board.seconds_left = 77;
  board.running[1] = {.trial = "abc", .title = "small, prodigy", .delta = 1e-5, .step = 7, .steps = 10};
  board.running[1].steps_per_second = 12.5;
  board.selections["study"] = "small, dp-hyper";
  return board;
}

class SnapshotFile : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::make();
    ASSERT_TRUE(made);
    scratch_.emplace(std::move(*made));
    folder_.root = scratch_->path();
  }
  std::optional<ScratchFolder> scratch_;
  OutFolder folder_;
};

TEST_F(SnapshotFile, ReadsBackAndIsItsOwnersAlone) {
  SnapshotWriter writer(folder_, "quick");
  writer.board(busy_board());
  EXPECT_EQ(std::filesystem::status(folder_.progress()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const auto read = read_snapshot(folder_).value();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->process, ::getpid());
  EXPECT_EQ(read->spec, "quick");
  EXPECT_EQ(read->studies_over, 1);
  EXPECT_EQ(read->share_done, 0.25);
  EXPECT_EQ(read->seconds_left, 77);
  ASSERT_EQ(read->running.size(), 1U);
  EXPECT_EQ(read->running[0].trial, "abc");
  EXPECT_EQ(read->running[0].delta, 1e-5);
  EXPECT_EQ(read->running[0].steps_per_second, 12.5);
  EXPECT_THAT(read->selections, ::testing::ElementsAre("small, dp-hyper"));
  const auto shown = live_lines(board_of(*read), *read->seconds, 200);
  EXPECT_THAT(shown.front(),
              HasSubstr("25 %  about 1 min 17 s left  quick: training  0/4 runs, 1/3 studies"));
}

TEST_F(SnapshotFile, HasNoTimesWhereTheyTellOfASelection) {
  auto board = busy_board();
  board.hides_times = true;
  SnapshotWriter(folder_, "quick").board(board);
  auto snapshot = snapshot_of(board, "quick", 1234);
  EXPECT_FALSE(snapshot.seconds);
  EXPECT_FALSE(snapshot.seconds_left);
  EXPECT_FALSE(snapshot.running.at(0).steps_per_second);
  snapshot.process = 1;  // whose digits may be any
  const auto text = canonical_json(as_json(snapshot));
  for (const char* told : {"1234", "77", "12.5"}) EXPECT_THAT(text, Not(HasSubstr(told)));
}

TEST_F(SnapshotFile, IsWrittenNowAndThenAndGoesWithTheRun) {
  {
    SnapshotWriter writer(folder_, "quick", std::chrono::hours(1));
    auto board = busy_board();
    writer.board(board);
    board.cells_over = 2;
    writer.board(board);
    EXPECT_EQ(read_snapshot(folder_).value()->studies_over, 1);
    board.phase = "stopping";
    writer.board(board);
    EXPECT_EQ(read_snapshot(folder_).value()->studies_over, 2) << "another phase is told at once";
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.progress()));
  EXPECT_FALSE(read_snapshot(folder_).value());
}

TEST_F(SnapshotFile, OneThatIsNoneIsAnError) {
  write_file_atomically(folder_.progress(), "{\"spec\":").value();
  EXPECT_FALSE(read_snapshot(folder_));
}

Update progress_at(std::int64_t step) {
  Update update{.kind = Update::Kind::progress, .job = "a"};
  update.step = step;
  update.steps = 100;
  return update;
}

// A run that goes on from a checkpoint has not done the steps before it; loading is no step.
TEST(TallyRate, CountsFromTheFirstNews) {
  double now = 0;
  Tally tally(1, [&] { return now; });
  tally.started(0, {.title = "a", .steps = 100});
  now = 50;
  tally.stepped(progress_at(40));
  EXPECT_FALSE(tally.board().running.at(0).steps_per_second);
  now = 60;
  tally.stepped(progress_at(70));
  EXPECT_EQ(tally.board().running.at(0).steps_per_second, 3.0);
}

}  // namespace snapshot_test
}  // namespace hyfreedp::runner
