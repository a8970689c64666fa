// Keeps the progress board's numbers.
//
// What is counted is a unit: one trial, or one whole study under private selection, whose number of runs must not show.
#pragma once

#include <map>
#include <set>
#include <string>

#include "harness/runner/executor.h"
#include "harness/runner/progress.h"

namespace hyfreedp::runner {

class Tally {
 public:
  const Board& board() const { return board_; }
  void phase(const std::string& name) { board_.phase = name; }
  void planning(bool more_may_come) { board_.planning = more_may_come; }
  void cells(std::size_t count) { board_.cells = count; }
  void cell_over() { ++board_.cells_over; }

  // A unit counts once, however often it is named. `over`: it had ended before this run began.
  void known(const std::string& unit, double cost, bool over);
  void over(const std::string& unit);

  // A run of a private selection: nothing but that its study (the unit) is under way, until that is over.
  void selecting(const std::string& unit, const std::string& title) {
    board_.selections.emplace(unit, title);
  }
  void hide_times() { board_.hides_times = true; }
  void started(int slot, RunningTrial trial) { board_.running[slot] = std::move(trial); }
  void stepped(const Update& update);
  void ended(int slot) { board_.running.erase(slot); }

 private:
  struct Unit {
    double cost = 0;
    bool over = false;
  };
  Board board_;
  std::map<std::string, Unit> units_;
};

}  // namespace hyfreedp::runner
