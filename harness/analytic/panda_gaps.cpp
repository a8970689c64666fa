// Columns that are differences of their neighbours: private against non-private accuracy
// (tables 4 and 17), and what a cheaper epsilon costs (table 12).
#include <fmt/format.h>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

struct Difference {
  std::string table;
  const char* title;
  const char* minuend;
  const char* subtrahend;
  const char* printed;
  std::vector<std::string> row_fields;
};

Result<Analytic> differences(const Difference& what, const PaperValues& paper) {
  Analytic done;
  auto& table = done.table;
  table.name = fmt::format("panda-table-{}", what.table);
  table.title = what.title;
  table.description =
      fmt::format("'{}' less '{}', recomputed from the printed accuracies.", what.minuend, what.subtrahend);
  table.unit = std::string("%");
  table.row_fields = what.row_fields;
  table.columns = {what.subtrahend, what.minuend, what.printed};
  for (const auto& cell : paper.table(what.table)) {
    if (cell.columns != Labels{what.minuend}) continue;
    const auto less = paper.cell(what.table, cell.row, {what.subtrahend});
    const auto printed = paper.cell(what.table, cell.row, {what.printed});
    if (!less || !printed) continue;
    auto gap = compared(cell.value - less->value, printed);
    if (gap.in_band() == false)
      footnote(table, gap, "The printed difference does not follow from the accuracies printed beside it.");
    table.rows.push_back(
        {cell.row, {paper_alone(less->value, less->decimals), paper_alone(cell.value, cell.decimals), gap}});
  }
  if (table.rows.empty())
    return error("this item computes from the paper's columns and needs the paper's values.json.");
  return done;
}

Result<Analytic> compute_4(const json::object&, const PaperValues& paper) {
  return differences(
      {"4", "Gap between private and non-private accuracy", "eps=inf", "eps=1", "gap", {"model", "dataset"}},
      paper);
}

struct Table17Options {
  std::string table = "17";
};
BOOST_DESCRIBE_STRUCT(Table17Options, (), (table))

Result<Analytic> compute_17(const json::object& resolved, const PaperValues& paper) {
  return differences({read_options<Table17Options>(resolved).table,
                      "Gap between private and non-private accuracy of several works",
                      "inf",
                      "1",
                      "gap",
                      {"work", "dataset"}},
                     paper);
}

Result<Analytic> compute_12(const json::object&, const PaperValues& paper) {
  Analytic done;
  auto& table = done.table;
  table.name = "panda-table-12";
  table.title = "The accuracy at epsilon 1 that table 12 implies";
  table.description =
      "Accuracy at epsilon 0.7 and its loss against epsilon 1: their sum is one number, however epsilon was "
      "lowered.";
  table.unit = std::string("%");
  table.row_fields = {"way"};
  table.columns = {"accuracy at 0.7", "loss against eps 1", "sum"};
  std::optional<PaperCell> first;
  for (const auto& cell : paper.table("12")) {
    if (cell.columns != Labels{"accuracy at 0.7"}) continue;
    const auto loss = paper.cell("12", cell.row, {"loss against eps 1"});
    if (!loss) continue;
    PaperCell sum = cell;
    sum.value = cell.value + loss->value;
    if (!first) first = sum;
    // Each way's sum is held against the first way's.
    table.rows.push_back({cell.row,
                          {paper_alone(cell.value, cell.decimals), paper_alone(loss->value, loss->decimals),
                           compared(sum.value, first)}});
  }
  if (table.rows.empty())
    return error("this item computes from the paper's columns and needs the paper's values.json.");
  table.notes = {
      "'Paper' of the last column is the first row's sum. Table 3 prints 87.7 for ImageNet, the text of "
      "section 5.2.2 87."};
  return done;
}

}  // namespace

Item panda_table_4() {
  return {"panda-table-4",
          "Gap between private and non-private accuracy, recomputed",
          "Panda et al. 2024, table 4 (and 9)",
          "panda",
          {},
          compute_4};
}

Item panda_table_12() {
  return {"panda-table-12",
          "The accuracy at epsilon 1 that table 12 implies",
          "Panda et al. 2024, table 12",
          "panda",
          {},
          compute_12};
}

Item panda_table_17() {
  return {"panda-table-17",
          "Gap between private and non-private accuracy of several works, recomputed",
          "Panda et al. 2024, table 17 (draft: table 3)",
          "panda",
          options_of<Table17Options>({plain_option("table", "number of the table; the draft has it as 3")}),
          compute_17};
}

}  // namespace hyfreedp::analytic
