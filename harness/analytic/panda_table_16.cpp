#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

struct CostOptions {
  std::int64_t runs = 3, grid = 100;
  double hours = 1;
};
BOOST_DESCRIBE_STRUCT(CostOptions, (), (runs, grid, hours))

Result<Analytic> compute_table(const json::object& resolved, const PaperValues& paper) {
  const auto [runs, grid, hours] = read_options<CostOptions>(resolved);
  Analytic done;
  auto& table = done.table;
  table.name = "panda-table-16";
  table.title = "Cost of a search in GPU hours and on the clock";
  table.description = fmt::format(
      "One run takes {} GPU hours. Random search: 1 run. Grid: {} runs, side by side. Linear scaling: {} "
      "runs a sweep side by "
      "side, two sweeps and the final run one after the other. On the clock: with as many GPUs as runs side "
      "by side.",
      hours, grid, runs);
  table.unit = "hours";
  table.row_fields = {"method"};
  table.columns = {"GPU hours", "wall-clock"};
  const struct {
    const char* title;
    double total, serial;
  } rows[] = {{"random", 1, 1}, {"grid", 1.0 * grid, 1}, {"ours", 2.0 * runs + 1, 3}};
  for (const auto& row : rows) {
    table.rows.push_back({{row.title},
                          {compared(row.total * hours, paper.cell("16", {row.title}, {"GPU hours"}), 0),
                           compared(row.serial * hours, paper.cell("16", {row.title}, {"wall-clock"}), 0)}});
  }
  return done;
}

}  // namespace

Item panda_table_16() {
  return {
      "panda-table-16",
      "Cost of a search in GPU hours and on the clock",
      "Panda et al. 2024, table 16",
      "panda",
      options_of<CostOptions>({{.name = "runs", .help = "runs of each of the two sweeps (stated)", .min = 1},
                               {.name = "grid", .help = "candidates of the grid (stated)", .min = 1},
                               ranged_option("hours", 1e-6, 1e6, "GPU hours of one run (stated)", "h")}),
      compute_table};
}

}  // namespace hyfreedp::analytic
