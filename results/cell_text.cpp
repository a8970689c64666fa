#include "results/cell_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "harness/base/text.h"

namespace hyfreedp::results {
namespace {

constexpr double kRoundingSlack = 1e-6;  // 1.0000001 hundredths are 1, not 2

std::string value_detail(const CellModel& cell) {
  std::vector<std::string> parts;
  if (cell.epsilon) {
    auto spent = "ε " + epsilon_text(*cell.epsilon);
    if (cell.claimed_epsilon) spent += " (claimed " + short_number(*cell.claimed_epsilon) + ")";
    parts.push_back(spent);
  }
  parts.push_back(fmt::format("n {}", cell.n));
  return join(parts, ", ");
}

}  // namespace

CellText text_of(const CellModel& cell) {
  CellText text;
  switch (cell.kind) {
    case CellModel::Kind::not_planned:
      text.main = "n/a";
      break;
    case CellModel::Kind::open:
      text.main = "not run yet";
      break;
    case CellModel::Kind::failed:
      text.main = cell.failure;
      break;
    case CellModel::Kind::value:
      text.main = fmt::format("{:.1f}", cell.mean);
      if (cell.sd) text.main += fmt::format(" ± {:.1f}", *cell.sd);
      text.detail = value_detail(cell);
      break;
  }
  std::vector<std::string> confidential;
  if (cell.validation) confidential.push_back(fmt::format("validation {:.1f}", *cell.validation));
  if (cell.runs) confidential.push_back(fmt::format("{} runs", short_number(*cell.runs)));
  text.confidential = join(confidential, ", ");
  return text;
}

std::string column_title(const std::optional<double>& epsilon) {
  return epsilon ? "ε = " + short_number(*epsilon) : "non-private";
}

std::string epsilon_text(double epsilon) {
  if (!std::isfinite(epsilon)) return "∞";
  if (epsilon > 0 && epsilon < 0.01) return "<0.01";
  return fmt::format("{:.2f}", std::max(0.0, std::ceil(epsilon * 100 - kRoundingSlack)) / 100);
}

std::string marker(const std::vector<int>& notes) {
  if (notes.empty()) return "";
  auto sorted = notes;
  std::sort(sorted.begin(), sorted.end());
  return fmt::format("[{}]", fmt::join(sorted, ", "));
}

std::string label_text(const TableModel& table, const RowModel& row) {
  std::vector<std::string> parts{row.label};
  for (const auto& flag : row.flags) {
    const bool is_banner = std::any_of(table.banners.begin(), table.banners.end(),
                                       [&](const auto& banner) { return banner.starts_with(flag); });
    if (!is_banner) parts.push_back(flag);
  }
  return join(parts, "; ");
}

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace hyfreedp::results
