#include "plots/report_figure.h"

#include <algorithm>
#include <fmt/format.h>

#include "plots/svg_inline.h"
#include "results/table/cell_text.h"
#include "results/table/html_writer.h"

namespace hyfreedp::plots {
namespace {

// Texts of a picture are read down to some four fifths of their size; beyond that it scrolls by
// itself.
constexpr double kSmallest = 0.8, kLargest = 1.25;
constexpr double kLegendMargin = 4;  // pixels, between what is shown and the legend

// The part of the canvas that is shown, from its upper left corner.
struct View {
  double width = 0, height = 0;
  bool has_legend = true;  // within it
};

double right_end(const Text& text) {
  constexpr double kCharacter = 7.4 / 12;  // of sans, in its size
  const double length = kCharacter * text.size * static_cast<double>(results::display_width(text.text));
  if (text.upright) return text.x + text.size;
  return text.x + (text.align == Text::Align::left     ? length
                   : text.align == Text::Align::centre ? length / 2
                                                       : 0);
}

// The ends of what is drawn: the right and the lower end of the boxes, and the lower end of boxes
// with their ticks and of texts.
struct Extent {
  double boxes_right = 0, boxes_bottom = 0, bottom = 0;
};

Extent extent_of(const Figure& figure) {
  constexpr double kTicks = 34, kDescender = 8;  // pixels
  Extent extent{.boxes_bottom = figure.height, .bottom = figure.height};
  for (const auto& box : figure.boxes) {
    extent.boxes_right = std::max(extent.boxes_right, box.right);
    extent.boxes_bottom = std::min(extent.boxes_bottom, box.bottom);
  }
  extent.bottom = extent.boxes_bottom - kTicks;
  for (const auto& text : figure.texts) {
    if (!text.upright) extent.bottom = std::min(extent.bottom, text.y - kDescender);
  }
  return extent;
}

// The canvas less the legend, which stands right of all boxes or beneath them.
View view_of(const Figure& figure) {
  const View whole{figure.width, figure.height};
  if (figure.legend.empty() || figure.boxes.empty()) return whole;
  const auto extent = extent_of(figure);
  if (figure.legend_left >= extent.boxes_right) {
    const double width = figure.legend_left - kLegendMargin;
    const bool fits = std::all_of(figure.texts.begin(), figure.texts.end(),
                                  [&](const Text& text) { return right_end(text) <= width; });
    // A long legend had made the canvas higher than its boxes.
    return fits ? View{width, figure.height - std::max(0.0, extent.bottom), false} : whole;
  }
  if (figure.legend_top > extent.boxes_bottom) return whole;
  const bool clear = std::all_of(figure.texts.begin(), figure.texts.end(),
                                 [&](const Text& text) { return text.y >= figure.legend_top; });
  return clear ? View{figure.width, figure.height - figure.legend_top, false} : whole;
}

// gnuplot's point types as the palette uses them, about (17, 7).
std::string marker_svg(const LineStyle& style) {
  const char* shape = "";
  switch (style.marker) {
    case 7:
    case 6:
      shape = "<circle cx=\"17\" cy=\"7\" r=\"3.6\"";
      break;
    case 5:
    case 4:
      shape = "<path d=\"M13.6 3.6h6.8v6.8h-6.8z\"";
      break;
    case 9:
    case 8:
      shape = "<path d=\"M17 2.6l4.3 7.4h-8.6z\"";
      break;
    case 11:
      shape = "<path d=\"M17 11.4l4.3-7.4h-8.6z\"";
      break;
    default:
      shape = "<path d=\"M17 2.4l4.2 4.6-4.2 4.6-4.2-4.6z\"";
  }
  const bool is_open = style.marker % 2 == 0;
  return fmt::format("{} fill=\"{}\" stroke=\"{}\"/>", shape, is_open ? "#ffffff" : style.colour,
                     style.colour);
}

std::string swatch(const LegendEntry& entry) {
  constexpr const char* kDashes[] = {"", "8 7", "1 5", "9 6 1 6"};
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"34\" height=\"14\" viewBox=\"0 0 34 14\" "
      "aria-hidden=\"true\">";
  if (entry.line) {
    const auto dash = static_cast<std::size_t>(std::clamp(entry.style.dash, 1, 4) - 1);
    out += fmt::format(
        "<path d=\"M1 7h32\" stroke=\"{}\" stroke-width=\"2\" stroke-linecap=\"round\" fill=\"none\"{}/>",
        entry.style.colour, dash == 0 ? "" : fmt::format(" stroke-dasharray=\"{}\"", kDashes[dash]));
  }
  if (entry.markers) out += marker_svg(entry.style);
  return out + "</svg>";
}

std::string legend_html(const Figure& figure) {
  std::string items;
  for (const auto& entry : figure.legend) {
    items += fmt::format("<li>{}<span>{}</span></li>\n", swatch(entry), results::html_escaped(entry.title));
  }
  return "<ul class=\"legend\">\n" + items + "</ul>\n";
}

}  // namespace

std::string report_figure(const Figure& figure, const std::string& svg, const std::string& prefix) {
  const auto view = view_of(figure);
  return fmt::format(
             "<div class=\"canvas\">\n<div class=\"picture\" tabindex=\"0\" style=\"flex-basis: {0:.0f}px; "
             "max-width: {2:.0f}px\"><div style=\"min-width: {1:.0f}px\">",
             view.width, kSmallest * view.width, kLargest * view.width) +
         inline_svg(svg, prefix + figure.name, figure.caption, view.width, view.height) + "</div></div>\n" +
         (view.has_legend ? "" : legend_html(figure)) + "</div>\n";
}

}  // namespace hyfreedp::plots
