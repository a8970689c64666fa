#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

// Adds up baseline and improvement: each row ablates one choice of the same full method, so the
// sums should be one.
Result<Analytic> compute_table(const json::object&, const PaperValues& paper) {
  Analytic done;
  auto& table = done.table;
  table.name = "panda-table-1";
  table.title = "The full method's accuracy that each ablation implies";
  table.description =
      "Baseline accuracy and improvement as printed, and their sum beside the sum that most rows share.";
  table.unit = std::string("%");
  table.row_fields = {"choice", "baseline"};
  table.columns = {"baseline accuracy", "improvement", "sum"};
  struct Row {
    PaperCell baseline;
    PaperCell improvement;
    long sum = 0;  // in hundredths, so that equal sums are equal
  };
  std::vector<Row> rows;
  std::map<long, int> votes;
  for (const auto& cell : paper.table("1")) {
    if (cell.columns != Labels{"baseline accuracy"}) continue;
    const auto improvement = paper.cell("1", cell.row, {"improvement"});
    if (!improvement) continue;
    const long sum = std::lround(100 * (cell.value + improvement->value));
    rows.push_back({cell, *improvement, sum});
    ++votes[sum];
  }
  if (rows.empty())
    return error("this item computes from the paper's columns and needs the paper's values.json.");
  const long most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
                      return a.second < b.second;
                    })->first;
  for (const auto& row : rows) {
    auto sum = compared(static_cast<double>(row.sum) / 100, static_cast<double>(most) / 100, 2, half_unit(2));
    if (sum.in_band() == false) {
      footnote(table, sum,
               fmt::format("{:.2f} is not the {:.2f} of the other rows; the draft prints {:.2f} as the "
                           "accuracy without the free "
                           "step.",
                           *sum.ours, *sum.paper, *sum.ours));
    }
    table.rows.push_back({row.baseline.row,
                          {paper_alone(row.baseline.value, row.baseline.decimals),
                           paper_alone(row.improvement.value, row.improvement.decimals), sum}});
  }
  table.notes = {"'Paper' of the last column is the sum that most rows share."};
  return done;
}

}  // namespace

Item panda_table_1() {
  return {"panda-table-1",
          "The full method's accuracy that each ablation implies",
          "Panda et al. 2024, tables 1 and 13 (draft: table 1)",
          "panda",
          {},
          compute_table};
}

}  // namespace hyfreedp::analytic
