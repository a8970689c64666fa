#include "results/table/cell_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "harness/base/text.h"
#include "results/table/cell_values.h"
#include "results/table/statistics.h"

namespace hyfreedp::results {
namespace {

constexpr double kRoundingSlack = 1e-6;  // 1.0000001 hundredths are 1, not 2

std::string value_detail(const CellModel& cell, const TableLook& look) {
  std::vector<std::string> parts;
  if (cell.epsilon && look.epsilon) {
    auto spent = "ε " + epsilon_text(*cell.epsilon);
    if (cell.claimed_epsilon) spent += " (claimed " + short_number(*cell.claimed_epsilon) + ")";
    parts.push_back(spent);
  }
  if (look.n) parts.push_back(fmt::format("n {}", cell.n));
  return join(parts, ", ");
}

// "∞" for what is not finite; a value too small for its decimals keeps two significant digits
// instead of reading 0.00.
std::string fixed(double value, int decimals) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
  auto text = fmt::format("{:.{}f}", value, decimals);
  const bool looks_zero = text.find_first_of("123456789") == std::string::npos;
  if (!looks_zero) return text;
  if (value == 0) return fmt::format("{:.{}f}", 0.0, decimals);
  return fmt::format("{:.1e}", value);
}

// Writes the value with its sign; a difference that rounds to nothing is 0, not 1e-14.
std::string signed_text(double value, int decimals) {
  auto text = fmt::format("{:+.{}f}", value, decimals);
  if (text.find_first_of("123456789") != std::string::npos) return text;
  return fmt::format("{:.{}f}", 0.0, decimals);
}

std::string range_text(const Interval& range, int decimals, bool with_sign) {
  return with_sign ? fmt::format("[{:+.{}f}, {:+.{}f}]", range.low, decimals, range.high, decimals)
                   : fmt::format("[{:.{}f}, {:.{}f}]", range.low, decimals, range.high, decimals);
}

void add_value(const CellModel& cell, const TableLook& look, CellText& text) {
  const auto values = values_of(cell);
  const bool is_median = look.is_median && !values.empty();
  text.main = value_text(is_median ? quantile(values, 0.5) : cell.mean,
                         look.sd ? cell.sd : std::optional<double>(), cell.decimals);
  if (look.range && values.size() > 1) {
    const auto [least, greatest] = std::ranges::minmax(values);
    text.main += " " + range_text({least, greatest}, cell.decimals, false);
  }
  if (auto detail = value_detail(cell, look); !detail.empty()) text.details.push_back(std::move(detail));
}

void add_extra_details(const CellModel& cell, std::vector<std::string>& details) {
  if (cell.interval) details.push_back("interval " + range_text(*cell.interval, cell.decimals, false));
  if (cell.relation && cell.is_ratio) {
    details.push_back(fmt::format("× {:.2f} of reference", *cell.relation));
    if (cell.relation_range) details.push_back("ratios " + range_text(*cell.relation_range, 2, false));
  } else if (cell.relation) {
    details.push_back("vs reference " + signed_text(*cell.relation, cell.decimals));
    if (cell.relation_range) details.back() += " " + range_text(*cell.relation_range, cell.decimals, true);
  }
  if (cell.detectable) details.push_back(fmt::format("detectable {:.{}f}", *cell.detectable, cell.decimals));
  if (cell.rerr) details.push_back(fmt::format("RERR {:.0f} %", 100 * *cell.rerr));
  if (cell.beats_oracle) details.emplace_back("oracle beaten");
}

constexpr int kPaperDecimals = 2;

void add_paper(const CellModel& cell, std::vector<std::string>& details) {
  const auto& paper = *cell.paper;
  std::optional<double> ours;
  if (paper.difference) ours = cell.mean;
  auto lines = paper_lines(paper.value, paper.sd, ours, kPaperDecimals, paper.in_band);
  if (paper.unit != "%") lines.front() += " " + paper.unit;
  if (paper.rank && paper.our_rank) {
    lines.push_back(fmt::format("rank {} of {}, paper's {}", short_number(*paper.our_rank, 3), paper.ranked,
                                short_number(*paper.rank, 3)));
  }
  details.insert(details.end(), lines.begin(), lines.end());
}

// "stl10 91.2 ± 0.3", and beneath it the paper's value.
void add_ood_test(const CellModel& cell, std::vector<std::string>& details) {
  for (const auto& value : cell.ood_test) {
    if (value.n > 0) details.push_back(value.id + " " + value_text(value.mean, value.sd, 1));
    if (!value.paper) continue;
    std::optional<double> ours;
    if (value.paper->difference) ours = value.mean;
    auto lines = paper_lines(value.paper->value, value.paper->sd, ours, kPaperDecimals, {});
    if (value.n == 0) lines.front() = value.id + " " + lines.front();
    details.insert(details.end(), lines.begin(), lines.end());
  }
}

}  // namespace

CellText text_of(const CellModel& cell, const TableLook& look) {
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
      add_value(cell, look, text);
      add_extra_details(cell, text.details);
      break;
  }
  if (cell.paper) add_paper(cell, text.details);
  add_ood_test(cell, text.details);
  std::vector<std::string> confidential;
  if (cell.validation) confidential.push_back(fmt::format("validation {:.1f}", *cell.validation));
  if (cell.runs) confidential.push_back(fmt::format("{} runs", short_number(*cell.runs)));
  text.confidential = join(confidential, ", ");
  return text;
}

std::string value_text(double value, const std::optional<double>& sd, int decimals) {
  return sd ? fmt::format("{0:.{2}f} ± {1:.{2}f}", value, *sd, decimals) : fixed(value, decimals);
}

std::vector<std::string> paper_lines(double paper, const std::optional<double>& paper_sd,
                                     const std::optional<double>& ours, int decimals,
                                     const std::optional<bool>& in_band, const std::string& word,
                                     const std::optional<int>& paper_decimals) {
  std::vector<std::string> lines{
      fmt::format("{} {}", word, value_text(paper, paper_sd, paper_decimals.value_or(decimals)))};
  if (!ours) return lines;
  lines.push_back("difference " + signed_text(*ours - paper, decimals));
  if (in_band) lines.back() += *in_band ? ", in band" : ", out of band";
  return lines;
}

CellText text_of(const ValueCell& cell, const std::string& word) {
  CellText text;
  if (cell.ours) {
    text.main = value_text(*cell.ours, std::nullopt, cell.decimals);
    if (cell.paper) {
      text.details = paper_lines(*cell.paper, cell.paper_sd, cell.ours, cell.decimals, cell.in_band(), word,
                                 cell.paper_decimals);
    }
    if (!cell.text.empty()) text.details.push_back(cell.text);
  } else if (cell.paper) {
    text.main = value_text(*cell.paper, cell.paper_sd, cell.paper_decimals.value_or(cell.decimals));
    if (!cell.text.empty()) text.details.push_back(cell.text);
  } else {
    text.main = cell.text.empty() ? kNoValue : cell.text;
  }
  return text;
}

std::string arm_title(const PanelModel& panel, const std::optional<double>& epsilon) {
  if (!epsilon) return "non-private";
  auto title = "ε = " + short_number(*epsilon);
  const auto fixed = panel.noise_multipliers.find(*epsilon);
  if (fixed == panel.noise_multipliers.end()) return title;
  std::vector<std::string> noises;
  for (const double noise : fixed->second) noises.push_back(short_number(noise));
  return fmt::format("σ = {}, {}", join(noises, " or "), title);
}

std::string column_title(const PanelModel& panel, const std::optional<double>& epsilon) {
  auto title = arm_title(panel, epsilon);
  const auto& facts = metric_facts(panel.table.metric);
  if (!facts.column.empty()) return title + ", " + facts.column;
  return panel.also.empty() ? title : title + ", accuracy";
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
