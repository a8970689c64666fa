// Mean accuracy of replayed rows against their total epsilon: a box a panel, a line a row, bars of
// the 95 % interval.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/runner/execute/replay.h"
#include "plots/figure.h"

namespace hyfreedp::cli {

struct ReplayFigure {
  std::string title;
  std::string watermark;                      // said in the figure itself
  std::string confidential;                   // the same, above it, where the output is
  std::map<std::string, std::string> titles;  // of rows, by id
  const std::vector<runner::ReplayedRow>& rows;
};

// An error where no private row has a value.
Result<plots::Figure> replay_figure(const ReplayFigure& request);

}  // namespace hyfreedp::cli
