#include "baselines/dp_hyper.h"

#include "baselines/private_selection.h"
#include "baselines/search.h"

namespace hyfreedp::baselines {
namespace {

struct DpHyperOptions {
  SelectionOptions selection{.mean_runs = 4};
  std::vector<double> grid = wide_grid();
  static constexpr std::array kInlined = {"selection"};
};
BOOST_DESCRIBE_STRUCT(DpHyperOptions, (), (selection, grid))

std::vector<OptionSpec> options() {
  auto table = selection_options(false);
  table.push_back(grid_option("grid", "candidate learning rates"));
  return options_of<DpHyperOptions>(std::move(table));
}

std::vector<trial::TrialConfig> candidates(const Cell& cell) {
  return at_rates(cell, read_options<DpHyperOptions>(cell.options).grid);
}

}  // namespace

Baseline dp_hyper() {
  Baseline baseline{.name = "dp-hyper",
                    .title = "DP-hyper (private selection)",
                    .source = "Papernot and Steinke, ICLR 2022",
                    .summary = "Random search by private selection: the search is charged.",
                    .has_non_private_arm = false,
                    .options = options(),
                    .next = {},
                    .conclude = {}};
  make_search(baseline, Tuning::selection, candidates);
  return baseline;
}

}  // namespace hyfreedp::baselines
