#include "baselines/dp_hyper.h"

#include "baselines/private_selection.h"
#include "baselines/search.h"

namespace hyfreedp::baselines {
namespace {

std::vector<trial::TrialConfig> candidates(const Cell& cell) {
  return at_rates(cell, list_of(cell.options, "grid"));
}

}  // namespace

Baseline dp_hyper() {
  Baseline baseline{.name = "dp-hyper",
                    .title = "DP-hyper (private selection)",
                    .source = "Papernot and Steinke, ICLR 2022",
                    .summary = "Random search by private selection: the search is charged.",
                    .has_non_private_arm = false,
                    .options = selection_options(4),
                    .next = {},
                    .conclude = {}};
  baseline.options.push_back(grid_option("grid", wide_grid(), "candidate learning rates"));
  make_search(baseline, Tuning::selection, candidates);
  return baseline;
}

}  // namespace hyfreedp::baselines
