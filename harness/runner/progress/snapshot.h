// ROOT/progress.json shows a run under way to other processes. The coordinator writes it at most
// once a second, and `hyfreedp watch` reads it.
//
// It holds what the live view shows, and no more: of private selections that they are under way,
// and no times where Board::hides_times is set. The owner alone may read it. It goes at the end of
// the run: a snapshot in a folder that no process holds (FolderLock) is of a coordinator that was
// killed. It is not synced, and that it cannot be written stops nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/describe.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/progress/run_listener.h"

namespace hyfreedp::runner {

// A run that is no private selection's.
struct SnapshotRun {
  std::string trial;
  std::string title;
  double delta = 0;
  std::int64_t step = 0;
  std::int64_t steps = 0;
  std::optional<double> steps_per_second;
};
BOOST_DESCRIBE_STRUCT(SnapshotRun, (), (trial, title, delta, step, steps, steps_per_second))

struct Snapshot {
  std::int64_t process = 0;  // the coordinator's
  std::string spec;
  std::string phase;
  std::int64_t studies = 0;
  std::int64_t studies_over = 0;
  std::int64_t runs = 0;
  std::int64_t runs_over = 0;
  bool planning = false;  // more runs may become known
  double share_done = 0;  // of the predicted time
  bool hides_times = false;
  std::optional<double> seconds;  // since the run began
  std::optional<double> seconds_left;
  std::vector<SnapshotRun> running;
  std::vector<std::string> selections;  // titles of the private selections under way
};
BOOST_DESCRIBE_STRUCT(Snapshot, (),
                      (process, spec, phase, studies, studies_over, runs, runs_over, planning, share_done,
                       hides_times, seconds, seconds_left, running, selections))

// The snapshot of this process; `seconds`: since the run began.
Snapshot snapshot_of(const Board& board, const std::string& spec, double seconds);
// The board that the live view shows of it, without the runs.
Board board_of(const Snapshot& snapshot);

// None where there is no file; an error where it cannot be read.
Result<std::optional<Snapshot>> read_snapshot(const OutFolder& folder);

class SnapshotWriter final : public RunListener {
 public:
  SnapshotWriter(const OutFolder& folder, std::string spec,
                 std::chrono::milliseconds interval = std::chrono::seconds(1));
  ~SnapshotWriter() override;  // removes the file
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;
  void board(const Board& board) override;

 private:
  using Clock = std::chrono::steady_clock;
  std::string path_;
  std::string spec_;
  std::chrono::milliseconds interval_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> last_;
  std::string last_phase_;
};

}  // namespace hyfreedp::runner
