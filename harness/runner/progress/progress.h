// Shows the user what happens while a spec runs.
//
// A terminal gets a live block: one line with the overall bar, and one line a worker. Elsewhere
// there is one plain line every few seconds and at changes of phase. Only released values are
// shown. A private selection shows that it is under way and nothing else: not its runs, their steps
// or the workers they keep busy. Where its number of runs is a secret (its draws come from no noise
// seed), no times are shown either, and a plain line is printed only when it says something new.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/runner/progress/live_block.h"

namespace hyfreedp::runner {

struct RunningTrial {
  std::string trial = {};        // its id
  std::string title;             // "linear  hyfreedp  eps 3  seed 0"
  double delta = 0;              // at which its study states epsilon
  bool loss_is_released = true;  // noised, or of data that is nobody's
  std::int64_t step = 0;
  std::int64_t steps = 0;
  std::optional<double> step_size;
  std::optional<double> private_loss;
  std::optional<double> steps_per_second;  // since its first news; absent where times are hidden
};

// The numbers behind the display; the coordinator updates them.
struct Board {
  std::string phase;  // "planning", "training", ...
  std::size_t cells = 0;
  std::size_t cells_over = 0;
  std::size_t runs = 0;  // known so far
  std::size_t runs_over = 0;
  double done = 0;  // seconds of runs, as they are predicted: of what ended since this began ...
  double left = 0;  // ... and of what is known and has not ended
  // The time left by the clock; absent while nothing of the kind was measured.
  std::optional<double> seconds_left;
  bool planning = false;                // more runs may become known
  std::map<int, RunningTrial> running;  // by worker; those of private selections are not among them
  // Titles of the private selections under way, by study.
  std::map<std::string, std::string> selections;
  bool hides_times = false;  // how long a private selection takes tells how many runs it makes
};

// The live block, each line at most `width` characters (not bytes) wide.
std::vector<std::string> live_lines(const Board& board, double elapsed, std::size_t width);
std::string plain_line(const Board& board, double elapsed);

class Progress {
 public:
  enum class Style { none, plain, live, live_colour };
  // `interval`: between plain lines, as long as the phase stays.
  Progress(std::ostream& out, Style style, std::chrono::milliseconds interval = std::chrono::seconds(5));
  ~Progress();  // removes the live block

  // The live style if `descriptor` is a terminal (with colour unless NO_COLOR is set), else the
  // plain one.
  static Style style_for(int descriptor);

  void show(const Board& board);      // now and then; cheap in between
  void say(const std::string& line);  // a line that stays
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::ostream& out_;
  LiveBlock block_;
  Style style_;
  std::chrono::milliseconds interval_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> last_;
  std::string last_phase_;
  std::string last_line_;
};

}  // namespace hyfreedp::runner
