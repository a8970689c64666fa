#include "harness/runner/progress/snapshot.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "harness/base/files.h"

namespace hyfreedp::runner {
namespace {

// A reader finds the old file or the new one. Without a sync, which would keep the coordinator
// waiting for the disk every second: after a crash of the machine nobody needs it.
void replace_unsynced(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return;
  const bool complete = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  if (!complete || std::rename(temporary.c_str(), path.c_str()) != 0) ::unlink(temporary.c_str());
}

}  // namespace

Snapshot snapshot_of(const Board& board, const std::string& spec, double seconds) {
  const double all = board.done + board.left;
  Snapshot snapshot{.process = ::getpid(),
                    .spec = spec,
                    .phase = board.phase,
                    .studies = static_cast<std::int64_t>(board.cells),
                    .studies_over = static_cast<std::int64_t>(board.cells_over),
                    .runs = static_cast<std::int64_t>(board.runs),
                    .runs_over = static_cast<std::int64_t>(board.runs_over),
                    .planning = board.planning,
                    .share_done = all > 0 ? std::clamp(board.done / all, 0.0, 1.0) : 0.0,
                    .hides_times = board.hides_times};
  if (!board.hides_times) {
    snapshot.seconds = seconds;
    snapshot.seconds_left = board.seconds_left;
  }
  for (const auto& [slot, trial] : board.running) {
    snapshot.running.push_back(
        {.trial = trial.trial,
         .title = trial.title,
         .delta = trial.delta,
         .step = trial.step,
         .steps = trial.steps,
         .steps_per_second = board.hides_times ? std::nullopt : trial.steps_per_second});
  }
  for (const auto& [study, title] : board.selections) snapshot.selections.push_back(title);
  return snapshot;
}

Board board_of(const Snapshot& snapshot) {
  Board board{.phase = snapshot.spec + ": " + snapshot.phase,
              .cells = static_cast<std::size_t>(snapshot.studies),
              .cells_over = static_cast<std::size_t>(snapshot.studies_over),
              .runs = static_cast<std::size_t>(snapshot.runs),
              .runs_over = static_cast<std::size_t>(snapshot.runs_over),
              .done = snapshot.share_done,
              .left = 1 - snapshot.share_done,
              .seconds_left = snapshot.seconds_left,
              .planning = snapshot.planning,
              .hides_times = snapshot.hides_times};
  for (const auto& title : snapshot.selections) board.selections.emplace(title, title);
  return board;
}

Result<std::optional<Snapshot>> read_snapshot(const OutFolder& folder) {
  if (!std::filesystem::exists(folder.progress())) return std::optional<Snapshot>{};
  const auto text = read_file(folder.progress());
  // It may have gone meanwhile: the run is over.
  if (!text && !std::filesystem::exists(folder.progress())) return std::optional<Snapshot>{};
  if (!text) return text.error();
  const auto value = parse_json(*text, folder.progress());
  if (!value) return value.error();
  auto snapshot = from_json<Snapshot>(*value, folder.progress());
  if (!snapshot) return snapshot.error();
  return std::optional(std::move(*snapshot));
}

SnapshotWriter::SnapshotWriter(const OutFolder& folder, std::string spec, std::chrono::milliseconds interval)
    : path_(folder.progress()), spec_(std::move(spec)), interval_(interval) {}

SnapshotWriter::~SnapshotWriter() { ::unlink(path_.c_str()); }

void SnapshotWriter::board(const Board& board) {
  const auto now = Clock::now();
  if (last_ && now - *last_ < interval_ && board.phase == last_phase_) return;
  last_ = now;
  last_phase_ = board.phase;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  replace_unsynced(path_, canonical_json(as_json(snapshot_of(board, spec_, seconds))) + "\n");
}

}  // namespace hyfreedp::runner
