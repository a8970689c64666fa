#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

std::vector<OptionSpec> options() {
  const auto count = [](const char* name, int default_value, const char* help) {
    OptionSpec option{name, OptionType::integer, default_value, help};
    option.min = 1;
    return option;
  };
  return {count("runs", 3, "runs of each of the two sweeps (stated)"),
          count("grid", 100, "candidates of the grid (stated)"),
          {"hours", OptionType::real, 1.0, "GPU hours of one run (stated)", "h", 1e-6, 1e6}};
}

Result<Analytic> compute_table(const json::object& options, const PaperValues& paper) {
  const double hours = double_or(options, "hours", 1);
  const auto runs = static_cast<double>(int_or(options, "runs", 3));
  const auto grid = static_cast<double>(int_or(options, "grid", 100));
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
    double total;
    double serial;
  } rows[] = {{"random", 1, 1}, {"grid", grid, 1}, {"ours", 2 * runs + 1, 3}};
  for (const auto& row : rows) {
    table.rows.push_back({{row.title},
                          {compared(row.total * hours, paper.cell("16", {row.title}, {"GPU hours"}), 0),
                           compared(row.serial * hours, paper.cell("16", {row.title}, {"wall-clock"}), 0)}});
  }
  return done;
}

}  // namespace

Item panda_table_16() {
  return {"panda-table-16",
          "Cost of a search in GPU hours and on the clock",
          "Panda et al. 2024, table 16",
          "panda",
          options(),
          compute_table};
}

}  // namespace hyfreedp::analytic
