#include <algorithm>
#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"
#include "harness/analytic/panda_composition.h"

namespace hyfreedp::analytic {
namespace {

struct SplitOptions {
  double delta = 1e-5, total = 1;
  int runs = 3;
};
BOOST_DESCRIBE_STRUCT(SplitOptions, (), (delta, total, runs))

Result<Analytic> compute_table(const json::object& resolved, const PaperValues& paper) {
  const auto [delta, total, runs] = read_options<SplitOptions>(resolved);
  const auto printed = paper.table("11");
  if (printed.empty())
    return error("this item composes the paper's splits and needs the paper's values.json.");
  int decimals = 0;
  for (const auto& cell : printed) decimals = std::max(decimals, decimals_of(std::stod(cell.row.at(2))));
  Analytic done;
  auto& table = done.table;
  table.name = "panda-table-11";
  table.title = "Splits of a budget between two sweeps and the final run";
  table.description = fmt::format(
      "{0} runs at eps1, {0} at eps2 and one at eps_f, mu^2 added (Theorem 4.1), delta = {1}. eps_f: what "
      "the sweeps leave of "
      "{2}, beside the printed one. Total: what the printed split composes to, beside {2}. Accuracy: the "
      "paper's alone.",
      runs, delta, total);
  table.row_fields = {"eps1", "eps2", "eps_f"};
  table.columns = {"eps_f", "total epsilon", "accuracy (CIFAR10, %)"};
  for (const auto& cell : printed) {
    auto accuracy = paper_alone(cell.value, cell.decimals);
    accuracy.paper_sd = cell.sd;
    if (cell.row.at(0) == "-") {
      table.rows.push_back({cell.row, {words("-"), words("-"), accuracy}});
      footnote(table, table.rows.back().cells[2], "The oracle: one run with the whole budget.");
      continue;
    }
    const double last = std::stod(cell.row.at(2));
    const std::vector<Runs> sweeps = {{std::stod(cell.row.at(0)), runs}, {std::stod(cell.row.at(1)), runs}};
    const auto left = remaining_epsilon(sweeps, total, delta);
    if (!left) return left.error();
    auto all = sweeps;
    all.push_back({last, 1});
    const auto composed = composed_epsilon(all, delta);
    if (!composed) return composed.error();
    auto final_cell = compared(*left, last, 4, half_unit(decimals));
    // A split that exceeds the budget is out of band however little it does.
    auto total_cell = compared(*composed, total, 4, *composed > total ? 0 : half_unit(decimals));
    if (*composed > total) {
      const auto note = fmt::format("This split composes to {:.4f}, above {}: eps_f would have to be {:.4f}.",
                                    *composed, total, *left);
      footnote(table, final_cell, note);
      footnote(table, total_cell, note);
    }
    if (final_cell.in_band() == false && *composed <= total) {
      footnote(table, final_cell,
               fmt::format("The sweeps leave {:.4f}: the printed eps_f leaves a part of the budget unspent.",
                           *left));
    }
    table.rows.push_back({cell.row, {final_cell, total_cell, accuracy}});
  }
  table.notes = {fmt::format(
      "In band: within half a unit of the splits' {} decimals; a total above the budget never.", decimals)};
  return done;
}

}  // namespace

Item panda_table_11() {
  return {
      "panda-table-11",
      "Splits (eps1, eps2, eps_f) of a total epsilon",
      "Panda et al. 2024, table 11, Theorem 4.1",
      "panda",
      options_of<SplitOptions>({ranged_option("delta", 1e-300, 0.5, "stated with the composition example"),
                                ranged_option("total", 1e-6, 100, "the budget that is split (stated)"),
                                {.name = "runs", .help = "runs of each sweep (stated)", .min = 1}}),
      compute_table};
}

}  // namespace hyfreedp::analytic
