#include "plots/figure.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "results/table/cell_text.h"

namespace hyfreedp::plots {
namespace {

constexpr double kLegendLine = 17;    // pixels
constexpr double kLegendGap = 6;      // between entries
constexpr double kLegendSample = 34;  // length of the line drawn
constexpr double kPixelsPerInch = 96;
constexpr double kBreakMark = 5;  // half the size of an axis break's strokes
constexpr const char* kGrid = "#E4E4E4";
constexpr const char* kInk = "#222222";
constexpr double kUsualSize = 12;

// Single quotes: gnuplot substitutes nothing inside them (in double quotes, back-quotes would run a
// command).
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "''";
    else
      out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "'";
}

std::string data_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{:.8g}", *value) : "NaN";
}

// gnuplot's own dashes stand far apart in a short line. Ends are round: butt ends of short lines
// grow spikes in its PNGs.
const char* dashes(int dash) {
  switch (dash) {
    case 2:
      return "(8,7)";
    case 3:
      return "(1,5)";
    case 4:
      return "(9,6,1,6)";
    default:
      return "1";
  }
}

// "#RRGGBB" as gnuplot reads a colour from data.
long colour_number(const std::string& colour) {
  return colour.size() == 7 ? std::strtol(colour.c_str() + 1, nullptr, 16) : 0;
}

double entry_height(const LegendEntry& entry) {
  return kLegendLine * static_cast<double>(results::wrap(entry.title, kLegendCharacters).size()) + kLegendGap;
}

std::size_t entries_per_column(std::size_t entries, std::size_t columns) {
  return (entries + columns - 1) / std::max<std::size_t>(columns, 1);
}

class Script {
 public:
  explicit Script(const Figure& figure) : figure_(figure) {}

  std::string write(const std::vector<std::pair<FileKind, std::string>>& files) {
    out_ += "# " + figure_.name + ": run with gnuplot 5.2 or newer\n";
    write_data();
    for (const auto& [kind, path] : files) {
      const auto family = figure_.font.empty() && kind == FileKind::svg ? "sans-serif" : figure_.font;
      bold_ = family + (kind == FileKind::svg ? " Bold" : ":Bold");
      size_scale_ = figure_.scale * (kind == FileKind::pdf ? kPdfPoints / kUsualSize : 1);
      draw(terminal(kind), path);
    }
    out_ += "set output\n";
    return std::move(out_);
  }

 private:
  // gnuplot takes letters, digits and '_' alone.
  std::string svg_name() const {
    auto name = figure_.name;
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    return in_quotes(name);
  }

  std::string font(const char* family, double size) const {
    return in_quotes(
        fmt::format("{},{:g}", figure_.font.empty() ? family : figure_.font, size * figure_.scale));
  }

  std::string terminal(FileKind kind) const {
    const double width = figure_.width * figure_.scale, height = figure_.height * figure_.scale;
    switch (kind) {
      case FileKind::svg:
        return fmt::format(
            "set terminal svg size {},{} dynamic enhanced rounded font {} name {} background 'white'", width,
            height, font("sans-serif", kUsualSize), svg_name());
      case FileKind::png:
        return fmt::format(
            "set terminal pngcairo size {},{} enhanced rounded font {} fontscale 1.5 linewidth 2 "
            "pointscale 2 "
            "background 'white'",
            2 * width, 2 * height, font("sans", kUsualSize));
      case FileKind::pdf:
        return fmt::format(
            "set terminal pdfcairo size {:.3f}in,{:.3f}in enhanced rounded font {} fontscale 1 "
            "linewidth 1.4 "
            "background 'white'",
            width / kPixelsPerInch, height / kPixelsPerInch, font("sans", kPdfPoints));
    }
    return {};
  }

  static std::string data_name(std::size_t box, std::size_t line) {
    return fmt::format("$d{}_{}", box, line);
  }

  void write_patches(std::size_t box) {
    const auto& patches = figure_.boxes[box].patches;
    if (patches.empty()) return;
    out_ += fmt::format("$p{} << EOD\n", box);
    for (const auto& patch : patches) {
      out_ += fmt::format("{:.8g} {:.8g} {:.8g} {:.8g} {:.8g} {:.8g} {}\n", (patch.left + patch.right) / 2,
                          (patch.bottom + patch.top) / 2, patch.left, patch.right, patch.bottom, patch.top,
                          colour_number(patch.colour));
    }
    out_ += "EOD\n";
  }

  void write_data() {
    for (std::size_t b = 0; b < figure_.boxes.size(); ++b) {
      write_patches(b);
      for (std::size_t l = 0; l < figure_.boxes[b].lines.size(); ++l) {
        out_ += data_name(b, l) + " << EOD\n";
        bool first = true;
        for (const auto& point : figure_.boxes[b].lines[l].points) {
          if (point.gap_before && !first) out_ += "\n";
          first = false;
          out_ += fmt::format("{} {} {} {}\n", data_number(point.x), data_number(point.y),
                              data_number(point.low), data_number(point.high));
        }
        out_ += "EOD\n";
      }
    }
  }

  void draw(const std::string& terminal, const std::string& path) {
    out_ += "\nreset\n" + terminal + "\nset output " + in_quotes(path) + "\n";
    out_ += "set termoption noenhanced\nset multiplot\nunset key\n";
    out_ +=
        fmt::format("set border 3 lc rgb '{0}' lw 1\nset style fill transparent solid 0.15 noborder\n", kInk);
    out_ += fmt::format("set tics nomirror out scale 0.6 textcolor rgb '{}'\n", kInk);
    out_ += fmt::format("set grid x y lt 1 lc rgb '{}' lw 0.6\nset clip two\nset errorbars 0.6\n", kGrid);
    for (std::size_t b = 0; b < figure_.boxes.size(); ++b) draw_box(b);
    draw_overlay();
    out_ += "unset multiplot\n";
  }

  void draw_box(std::size_t index) {
    const auto& box = figure_.boxes[index];
    out_ += fmt::format("set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n",
                        box.left / figure_.width, box.right / figure_.width);
    out_ += fmt::format("set bmargin at screen {:.5f}\nset tmargin at screen {:.5f}\n",
                        box.bottom / figure_.height, box.top / figure_.height);
    out_ += fmt::format("set border {}\n{} grid\n",
                        box.bare            ? 0
                        : box.bottom_border ? 3
                                            : 2,
                        box.bare ? "unset" : "set");
    draw_axis("x", box.x);
    draw_axis("y", box.y);
    draw_lines(index);
  }

  void draw_axis(const char* name, const Axis& axis) {
    out_ += fmt::format("{} logscale {}\n", axis.logarithmic ? "set" : "unset", name);
    out_ += fmt::format("set {}range [{:.10g}:{:.10g}]\n", name, axis.from, axis.to);
    if (axis.ticks.empty()) {
      out_ += fmt::format("set {}tics scale 0.6 autofreq\n", name);
      return;
    }
    std::string list;
    for (const auto& tick : axis.ticks) {
      if (!list.empty()) list += ", ";
      list += fmt::format("{} {:.10g}", in_quotes(axis.show_ticks ? tick.text : ""), tick.at);
    }
    out_ += fmt::format("set {}tics scale {} ({})\n", name, axis.show_ticks ? 0.6 : 0, list);
  }

  void draw_lines(std::size_t index) {
    const auto& lines = figure_.boxes[index].lines;
    std::string plots;
    const auto add = [&](const std::string& plot) {
      plots += (plots.empty() ? "plot " : ", \\\n     ") + plot;
    };
    if (!figure_.boxes[index].patches.empty()) {
      add(fmt::format(
          "$p{} using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fillstyle solid 1 noborder notitle",
          index));
    }
    for (std::size_t l = 0; l < lines.size(); ++l) {
      if (!lines[l].band) continue;
      add(fmt::format("{} using 1:3:4 with filledcurves lc rgb '{}' notitle", data_name(index, l),
                      lines[l].style.colour));
    }
    for (std::size_t l = 0; l < lines.size(); ++l) {
      const auto& style = lines[l].style;
      if (lines[l].error_bars) {
        add(fmt::format("{} using 1:($3 == $3 ? $2 : NaN):3:4 with yerrorbars lc rgb '{}' lw 1 pt 0 notitle",
                        data_name(index, l), style.colour));
      }
      if (lines[l].line) {
        add(fmt::format("{} using 1:2 with lines lc rgb '{}' lw {} dt {} notitle", data_name(index, l),
                        style.colour, lines[l].width, dashes(style.dash)));
      }
      if (lines[l].markers) add(markers(index, l));
    }
    out_ += (plots.empty() ? "plot NaN notitle" : plots) + "\n";
  }

  std::string markers(std::size_t box, std::size_t index) const {
    const auto& line = figure_.boxes[box].lines[index];
    const auto every = line.marker_stride > 1
                           ? fmt::format(" every {}::{}", line.marker_stride, line.marker_offset)
                           : std::string();
    return fmt::format("{}{} using 1:2 with points lc rgb '{}' pt {} ps {} notitle", data_name(box, index),
                       every, line.style.colour, line.style.marker, line.marker_size);
  }

  // Texts, legend and axis breaks: a plot over the whole canvas whose coordinates are pixels.
  // (Lines of the legend are plotted, not drawn as arrows, because the SVG terminal draws every
  // arrow solid.)
  void draw_overlay() {
    out_ +=
        "set lmargin at screen 0\nset rmargin at screen 1\nset bmargin at screen 0\nset tmargin at screen "
        "1\n";
    out_ +=
        "unset border\nunset tics\nunset grid\nunset logscale x\nunset logscale y\nset xlabel ''\nset ylabel "
        "''\n";
    out_ += fmt::format("set xrange [0:{}]\nset yrange [0:{}]\n", figure_.width, figure_.height);
    for (const auto& text : figure_.texts) draw_text(text);
    std::vector<std::string> plots;
    add_legend(plots);
    for (const auto& box : figure_.boxes) add_break(box, plots);
    out_ += plots.empty() ? "plot NaN notitle\n" : fmt::format("plot {}\n", fmt::join(plots, ", \\\n     "));
    out_ += "unset label\n";
  }

  void draw_text(const Text& text) {
    const char* align = text.align == Text::Align::left    ? "left"
                        : text.align == Text::Align::right ? "right"
                                                           : "center";
    std::string font = text.bold ? bold_ : "";
    // A font without a size has the terminal's.
    if (text.size != kUsualSize) font += fmt::format(",{:g}", text.size * size_scale_);
    out_ += fmt::format("set label {} at first {:.2f},{:.2f} {} {} textcolor rgb '{}'{}\n",
                        in_quotes(text.text), text.x, text.y, align,
                        text.upright ? "rotate by 90" : "norotate", text.colour.empty() ? kInk : text.colour,
                        font.empty() ? "" : fmt::format(" font {}", in_quotes(font)));
  }

  // A straight line as a plot of its own two points.
  std::string segment(double x0, double y0, double x1, double y1, const std::string& style) {
    const auto name = fmt::format("$s{}", segments_++);
    out_ += fmt::format("{} << EOD\n{:.2f} {:.2f}\n{:.2f} {:.2f}\nEOD\n", name, x0, y0, x1, y1);
    return fmt::format("{} using 1:2 with lines {} notitle", name, style);
  }

  void add_legend(std::vector<std::string>& plots) {
    double y = figure_.legend_top - kLegendLine / 2;
    double left = figure_.legend_left;
    const auto per_column = entries_per_column(figure_.legend.size(), figure_.legend_columns);
    std::size_t placed = 0;
    for (const auto& entry : figure_.legend) {
      if (placed > 0 && placed % per_column == 0) {
        y = figure_.legend_top - kLegendLine / 2;
        left += kLegendColumnWidth;
      }
      ++placed;
      if (entry.line) {
        plots.push_back(
            segment(left, y, left + kLegendSample, y,
                    fmt::format("lc rgb '{}' lw 1.8 dt {}", entry.style.colour, dashes(entry.style.dash))));
      }
      if (entry.markers) {
        out_ += fmt::format("set label '' at first {:.2f},{:.2f} point lc rgb '{}' pt {} ps {}\n",
                            left + kLegendSample / 2, y, entry.style.colour, entry.style.marker,
                            entry.marker_size);
      }
      for (const auto& line : results::wrap(entry.title, kLegendCharacters)) {
        draw_text({left + kLegendSample + 8, y, line, Text::Align::left, false, false});
        y -= kLegendLine;
      }
      y -= kLegendGap;
    }
  }

  // Two short strokes where the axis is interrupted.
  void add_break(const Box& box, std::vector<std::string>& plots) {
    if (!box.break_below) return;
    for (const double y : {box.bottom, box.bottom - 2 * kBreakMark}) {
      plots.push_back(segment(box.left - kBreakMark, y - kBreakMark / 2, box.left + kBreakMark,
                              y + kBreakMark / 2, fmt::format("lc rgb '{}' lw 1 dt 1", kInk)));
    }
  }

  const Figure& figure_;
  std::string bold_;       // font of the terminal at hand
  double size_scale_ = 1;  // its font's size over the SVG's
  int segments_ = 0;
  std::string out_;
};

}  // namespace

std::string gnuplot_script(const Figure& figure, const std::string& svg, const std::string& png) {
  return Script(figure).write({{FileKind::svg, svg}, {FileKind::png, png}});
}

std::string gnuplot_script(const Figure& figure, FileKind kind, const std::string& path) {
  return Script(figure).write({{kind, path}});
}

double legend_height(const std::vector<LegendEntry>& legend, std::size_t columns) {
  double highest = 0, height = 0;
  const auto per_column = entries_per_column(legend.size(), columns);
  for (std::size_t i = 0; i < legend.size(); ++i) {
    height = (i % per_column == 0 ? 0 : height) + entry_height(legend[i]);
    highest = std::max(highest, height);
  }
  return highest;
}

double legend_width(const std::vector<LegendEntry>& legend) {
  constexpr double kCharacter = 7.4, kEnds = 24;
  std::size_t longest = 0;
  for (const auto& entry : legend) {
    for (const auto& line : results::wrap(entry.title, kLegendCharacters)) {
      longest = std::max(longest, results::display_width(line));
    }
  }
  return kLegendSample + kEnds + kCharacter * static_cast<double>(longest);
}

}  // namespace hyfreedp::plots
