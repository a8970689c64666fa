// Keeps the progress board's numbers.
//
// It counts units: one trial, or one whole study under private selection, whose number of runs must
// not show. Such a study counts as long as it is expected to take (the mean of its number of runs
// is public), all at once and when it is over: how long its runs took, and how many have ended,
// changes nothing.
//
// Time left: the predicted seconds of what has not ended (pace.h) over the workers, and no less
// than the longest run under way needs. What was measured since this began counts before what
// earlier runs took.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "harness/runner/executors/executor.h"
#include "harness/runner/progress/pace.h"
#include "harness/runner/progress/progress.h"

namespace hyfreedp::runner {

class Tally {
 public:
  using Clock = std::function<double()>;  // seconds
  explicit Tally(int workers = 1, Clock clock = {});

  // The board, with the times as they are now.
  const Board& board();
  void phase(const std::string& name) { board_.phase = name; }
  void planning(bool more_may_come) { board_.planning = more_may_come; }
  void cells(std::size_t count) { board_.cells = count; }
  void cell_over() { ++board_.cells_over; }
  void earlier(Pace pace) { earlier_ = std::move(pace); }

  // A unit counts once, however often it is named. `runs`: how many of the kind it takes; `over`:
  // it had ended before this began.
  void known(const std::string& unit, const Work& work, bool over, double runs = 1);
  void over(const std::string& unit);

  // A run of a private selection: nothing but that its study (the unit) is under way, until that is
  // over.
  void selecting(const std::string& unit, const std::string& title) {
    board_.selections.emplace(unit, title);
  }
  void hide_times() { board_.hides_times = true; }
  // Any other run; `unit`: what it counts as.
  void started(int slot, const RunningTrial& trial, const std::string& unit = "");
  void stepped(const Update& update);
  // `finished`: it came to its end, after `seconds`.
  void ended(int slot, bool finished, double seconds);

 private:
  struct Unit {
    Work work;
    double runs = 1;
    bool over = false;
  };
  struct Started {
    std::string unit;
    double at = 0;
    std::optional<std::int64_t> first_step = {};  // of its first news, which came at ...
    double first_at = 0;
  };

  void measure_rate(Started& start, RunningTrial& trial);
  double seconds_of(const Pace& measured, const Kind& kind, double planned) const;

  Clock clock_;
  int workers_;
  Board board_;
  std::map<std::string, Unit> units_;
  std::map<int, Started> started_;  // by worker
  std::map<Kind, double> waiting_;  // planned seconds of the units that are not over
  std::map<Kind, double> done_;     // ... of those that have ended since this began
  Pace measured_;
  Pace earlier_;
};

}  // namespace hyfreedp::runner
