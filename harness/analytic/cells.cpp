#include "harness/analytic/cells.h"

#include <algorithm>
#include <cmath>

namespace hyfreedp::analytic {

double half_unit(int decimals) { return 0.5 * std::pow(10.0, -decimals) * (1 + 1e-9); }

results::ValueCell compared(double ours, const std::optional<PaperCell>& paper, int decimals_alone,
                            double more) {
  if (!paper) return ours_alone(ours, decimals_alone);
  auto cell = compared(ours, paper->value, paper->decimals, half_unit(paper->decimals) + more);
  cell.paper_sd = paper->sd;
  return cell;
}

results::ValueCell compared(double ours, std::optional<double> printed, int decimals, double tolerance) {
  results::ValueCell cell = ours_alone(ours, decimals);
  cell.paper = printed;
  if (printed) cell.tolerance = tolerance;
  return cell;
}

results::ValueCell ours_alone(double ours, int decimals) {
  results::ValueCell cell;
  cell.ours = ours;
  cell.decimals = decimals;
  return cell;
}

results::ValueCell paper_alone(double printed, int decimals) {
  results::ValueCell cell;
  cell.paper = printed;
  cell.decimals = decimals;
  return cell;
}

results::ValueCell words(std::string text) {
  results::ValueCell cell;
  cell.text = std::move(text);
  return cell;
}

int footnote(results::ValueTable& table, const std::string& text) {
  auto found = std::find(table.footnotes.begin(), table.footnotes.end(), text);
  if (found == table.footnotes.end()) found = table.footnotes.insert(found, text);
  return static_cast<int>(found - table.footnotes.begin()) + 1;
}

void footnote(results::ValueTable& table, results::ValueCell& cell, const std::string& text) {
  const int number = footnote(table, text);
  if (std::find(cell.notes.begin(), cell.notes.end(), number) == cell.notes.end())
    cell.notes.push_back(number);
}

}  // namespace hyfreedp::analytic
