#include "plots/layout.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "results/table/statistics.h"

namespace hyfreedp::plots {
namespace {

const char* superscript_digit(char digit) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  return digit == '-' ? "⁻" : kDigits[digit - '0'];
}

std::string power_of_ten(int exponent) {
  std::string text = "10";
  for (const char digit : std::to_string(exponent)) text += superscript_digit(digit);
  return text;
}

constexpr double kManyDecades = 2.2;
constexpr std::size_t kFewestTicks = 3;

bool is_within(double at, double from, double to) { return at >= from * 0.9999 && at <= to * 1.0001; }

std::vector<Tick> powers_of_ten(double from, double to) {
  std::vector<Tick> ticks;
  const int stride = std::max(1, static_cast<int>(std::ceil(std::log10(to / from) / 7)));
  for (int exponent = static_cast<int>(std::floor(std::log10(from)));
       exponent <= static_cast<int>(std::ceil(std::log10(to))); ++exponent) {
    const double at = std::pow(10.0, exponent);
    if (exponent % stride == 0 && is_within(at, from, to)) ticks.push_back({at, power_of_ten(exponent)});
  }
  return ticks;
}

// 1, 2 and 5 of each decade.
std::vector<Tick> ticks_of_decades(double from, double to) {
  std::vector<Tick> ticks;
  for (int exponent = static_cast<int>(std::floor(std::log10(from)));
       exponent <= static_cast<int>(std::ceil(std::log10(to))); ++exponent) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double at = digit * std::pow(10.0, exponent);
      if (is_within(at, from, to)) ticks.push_back({at, fmt::format("{:g}", at)});
    }
  }
  return ticks;
}

}  // namespace

MethodColours colours_of(const results::TableModel& table) {
  std::vector<std::string> methods;
  for (const auto& panel : table.panels) {
    for (const auto& row : panel.rows) methods.push_back(row.method);
  }
  return MethodColours(std::move(methods));
}

RowStyles::RowStyles(const results::TableModel& table) {
  const auto colours = colours_of(table);
  std::map<std::string, std::size_t> variants;
  for (const auto& panel : table.panels) {
    for (const auto& row : panel.rows) {
      if (styles_.contains(row.id)) continue;
      styles_[row.id] = colours.style(row.method, variants[row.method]++, order_.size());
      for (const auto& id : {row.group, row.id}) {
        if (const auto own = table.colours.find(id); own != table.colours.end())
          styles_[row.id].colour = own->second;
      }
      titles_[row.id] = row.title;
      order_.push_back(row.id);
    }
  }
}

std::vector<LegendEntry> RowStyles::legend(const std::vector<std::string>& shown, bool markers) const {
  std::vector<LegendEntry> entries;
  for (const auto& id : order_) {
    if (std::find(shown.begin(), shown.end(), id) == shown.end()) continue;
    entries.push_back({titles_.at(id), styles_.at(id), markers});
  }
  return entries;
}

std::vector<Point> merged(const std::vector<Curve>& curves, CurveBand band) {
  std::vector<Point> points;
  if (curves.empty()) return points;
  for (const auto& [step, first] : curves.front()) {
    std::vector<double> values;
    for (const auto& curve : curves) {
      if (const auto found = curve.find(step); found != curve.end() && std::isfinite(found->second)) {
        values.push_back(found->second);
      }
    }
    if (values.size() != curves.size()) continue;
    const auto at = [&](double quantile) { return results::quantile(values, quantile); };
    Point point{static_cast<double>(step), at(0.5)};
    if (band == CurveBand::range) point.low = at(0), point.high = at(1);
    if (band == CurveBand::quartiles) point.low = at(0.25), point.high = at(0.75);
    points.push_back(point);
  }
  return points;
}

void add_legend(Figure& figure, std::vector<LegendEntry> legend, double top) {
  figure.legend = std::move(legend);
  figure.legend_left = figure.width;
  figure.width += kLegendWidth;
  // A legend higher than the boxes lifts everything, so that it is never cut.
  const double lift = std::max(0.0, legend_height(figure.legend) - top);
  if (lift > 0) {
    figure.height += lift;
    for (auto& box : figure.boxes) box.bottom += lift, box.top += lift;
    for (auto& text : figure.texts) text.y += lift;
  }
  figure.legend_top = top + lift;
}

void add_legend_beneath(Figure& figure, std::vector<LegendEntry> legend, double below) {
  constexpr double kGapAbove = 14;
  figure.legend = std::move(legend);
  figure.legend_left = kLeftMargin;
  const auto fit = static_cast<std::size_t>((figure.width - kLeftMargin) / kLegendColumnWidth);
  figure.legend_columns = std::clamp<std::size_t>(fit, 1, figure.legend.size());
  const double lift = legend_height(figure.legend, figure.legend_columns) + kGapAbove - below;
  figure.height += lift;
  for (auto& box : figure.boxes) box.bottom += lift, box.top += lift;
  for (auto& text : figure.texts) text.y += lift;
  figure.legend_top = legend_height(figure.legend, figure.legend_columns) + kGapAbove / 2;
}

void set_font(Figure& figure, const spec::FigureLook& look) {
  figure.font = look.font.value_or("");
  if (look.font_size) figure.scale = *look.font_size / kPdfPoints;
}

std::vector<Tick> linear_ticks(double from, double to, int count) {
  const double rough = (to - from) / count;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double digit : {5.0, 2.0, 1.0}) {
    if (digit * decade >= rough) step = digit * decade;
  }
  std::vector<Tick> ticks;
  for (double i = std::ceil(from / step); i * step <= to * (1 + 1e-12); ++i) {
    ticks.push_back({i * step, fmt::format("{:.10g}", i * step + 0.0)});  // + 0.0: no "-0"
  }
  return ticks;
}

std::vector<Tick> logarithmic_ticks(double from, double to) {
  const double span = std::log10(to / from);
  auto ticks = span > kManyDecades ? powers_of_ten(from, to) : ticks_of_decades(from, to);
  if (ticks.size() < kFewestTicks) ticks = ticks_of_decades(from, to);
  // Ticks within one decade have even steps: the numbers say how they are spaced.
  for (int count = 4; ticks.size() < kFewestTicks && count <= 10; ++count)
    ticks = linear_ticks(from, to, count);
  return ticks;
}

}  // namespace hyfreedp::plots
