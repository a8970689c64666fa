// The total step sizes r = eta T that tables 6 and 8 print, against the line through the first two
// of each task.
#include <fmt/format.h>
#include <map>

#include "harness/analytic/cells.h"
#include "harness/analytic/items.h"

namespace hyfreedp::analytic {
namespace {

struct Point {
  double epsilon = 0;
  double r = 0;
  int decimals = 0;
};

// One task's points in the order of the paper; the first two make the line.
Result<void> add_task(const std::string& task, const std::vector<Point>& points, results::ValueTable& table) {
  if (points.size() < 3) return {};
  const double slope = (points[1].r - points[0].r) / (points[1].epsilon - points[0].epsilon);
  for (std::size_t i = 2; i < points.size(); ++i) {
    const Point& point = points[i];
    const double on_line = points[0].r + slope * (point.epsilon - points[0].epsilon);
    const double at = points[0].epsilon + (point.r - points[0].r) / slope;
    // Each r is right to half a unit; the line carries the errors of its two points to the epsilon
    // asked for.
    const double stretch = (point.epsilon - points[0].epsilon) / (points[1].epsilon - points[0].epsilon);
    auto cell = compared(on_line, point.r, point.decimals,
                         half_unit(point.decimals) + half_unit(points[0].decimals) * (stretch - 1) +
                             half_unit(points[1].decimals) * stretch);
    if (cell.in_band() == false) {
      footnote(table, cell,
               "The printed r does not lie on the line through the task's two small budgets at the printed "
               "epsilon; the last "
               "column is the epsilon at which the line gives it.");
    }
    table.rows.push_back({{task, fmt::format("{}", point.epsilon)}, {cell, ours_alone(at, 2)}});
  }
  return {};
}

results::ValueTable begun(const char* name, const char* title) {
  results::ValueTable table;
  table.name = name;
  table.title = title;
  table.description =
      "r at the printed epsilon on the line through the two smallest budgets of the task (Algorithm 2), "
      "beside the printed r.";
  table.row_fields = {"task", "epsilon"};
  table.columns = {"r = eta T", "epsilon of the printed r"};
  return table;
}

Result<Analytic> compute_6(const json::object&, const PaperValues& paper) {
  Analytic done;
  done.table = begun("panda-table-6", "Total step sizes on GLUE against the line");
  std::vector<std::string> order;
  std::map<std::string, std::vector<Point>> tasks;
  for (const auto& cell : paper.table("6")) {
    if (cell.columns != Labels{"r"}) continue;
    if (!tasks.contains(cell.row[0])) order.push_back(cell.row[0]);
    tasks[cell.row[0]].push_back({std::stod(cell.row[1]), cell.value, decimals_of(cell.value)});
  }
  if (order.empty())
    return error("this item computes from the paper's columns and needs the paper's values.json.");
  for (const auto& task : order) {
    if (auto ok = add_task(task, tasks[task], done.table); !ok) return ok.error();
  }
  return done;
}

Result<Analytic> compute_8(const json::object&, const PaperValues& paper) {
  Analytic done;
  done.table = begun("panda-table-8", "Total step sizes on WikiText-2 and Enron against the line");
  for (const std::string task : {"WikiText-2", "Enron"}) {
    std::vector<Point> points;
    for (const auto& cell : paper.table("8")) {
      if (cell.row == Labels{task, "r"})
        points.push_back({std::stod(cell.columns[0]), cell.value, decimals_of(cell.value)});
    }
    if (points.empty())
      return error("this item computes from the paper's columns and needs the paper's values.json.");
    if (auto ok = add_task(task, points, done.table); !ok) return ok.error();
  }
  return done;
}

}  // namespace

Item panda_table_6() {
  return {"panda-table-6",
          "Total step sizes on GLUE against the line",
          "Panda et al. 2024, table 6, Algorithm 2",
          "panda",
          {},
          compute_6};
}

Item panda_table_8() {
  return {"panda-table-8",
          "Total step sizes on WikiText-2 and Enron against the line",
          "Panda et al. 2024, table 8, Algorithm 2",
          "panda",
          {},
          compute_8};
}

}  // namespace hyfreedp::analytic
