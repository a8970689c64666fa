// A run under way as `hyfreedp watch` shows it: read from its journal, each line once.
//
// Shown are released and test values alone (results/table/released_scalars.h), and the epsilon of
// what the journal has booked. The run must not be a private selection's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/mechanism/journal_follower.h"
#include "harness/runner/progress/snapshot.h"

namespace hyfreedp::cli {

// A value's course over the steps.
struct WatchedCurve {
  std::string title;  // "test accuracy"
  std::vector<double> values;
  bool is_share = false;  // shown in percent
};

struct WatchedView {
  std::string title;
  std::int64_t step = 0;  // steps done
  std::int64_t steps = 0;
  std::optional<double> steps_per_second;
  // "ε 1.23 booked (δ 1e-05)", "no privacy"; empty: nothing is known yet.
  std::string epsilon;
  bool is_reproducible = false;  // its noise has a public seed
  std::vector<WatchedCurve> curves;
  std::string problem;  // why more is not shown
};

class WatchedRun {
 public:
  WatchedRun(const runner::OutFolder& folder, const std::string& trial);
  // Reads a piece of the journal. False: nothing is left to read for now.
  bool read();
  WatchedView view(const runner::SnapshotRun& run);

 private:
  std::string epsilon(double delta);

  mechanism::JournalFollower journal_;
  std::string problem_;
  bool is_all_ = false;
  // The price of the last view: of so many booked events.
  std::optional<std::pair<std::string, std::string>> priced_;  // events and text
};

// `values` as a line of at most `width` block characters: each is the mean of some values that
// follow each other, from the least (lowest block) to the greatest. What is no number is a space.
std::string block_line(const std::vector<double>& values, std::size_t width);

// The lines of a run, each at most `width` characters wide.
std::vector<std::string> lines_of(const WatchedView& view, std::size_t width);

}  // namespace hyfreedp::cli
