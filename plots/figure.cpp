#include "plots/figure.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "results/cell_text.h"

namespace hyfreedp::plots {
namespace {

constexpr double kLegendLine = 17;    // pixels
constexpr double kLegendGap = 6;      // between entries
constexpr double kLegendSample = 34;  // length of the line drawn
constexpr double kPixelsPerInch = 96;
constexpr double kBreakMark = 5;  // half the size of an axis break's strokes
constexpr const char* kGrid = "#E4E4E4";
constexpr const char* kInk = "#222222";

// Single quotes: gnuplot substitutes nothing inside them (in double quotes, back-quotes would run a command).
std::string quoted(const std::string& text) {
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

class Script {
 public:
  explicit Script(const Figure& figure) : figure_(figure) {}

  std::string write(const std::vector<std::pair<FileKind, std::string>>& files) {
    out_ += "# " + figure_.name + ": run with gnuplot 5.2 or newer\n";
    write_data();
    for (const auto& [kind, path] : files) {
      bold_ = kind == FileKind::svg ? "sans-serif Bold" : ":Bold";
      draw(terminal(kind), path);
    }
    out_ += "set output\n";
    return std::move(out_);
  }

 private:
  std::string terminal(FileKind kind) const {
    switch (kind) {
      case FileKind::svg:
        return fmt::format(
            "set terminal svg size {},{} dynamic enhanced font 'sans-serif,12' name {} background 'white'",
            figure_.width, figure_.height, quoted(figure_.name));
      case FileKind::png:
        return fmt::format(
            "set terminal pngcairo size {},{} enhanced font 'sans,12' fontscale 1.5 linewidth 2 pointscale 2 "
            "background 'white'",
            2 * figure_.width, 2 * figure_.height);
      case FileKind::pdf:
        return fmt::format(
            "set terminal pdfcairo size {:.3f}in,{:.3f}in enhanced font 'sans,8' fontscale 1 linewidth 1.4 "
            "background 'white'",
            figure_.width / kPixelsPerInch, figure_.height / kPixelsPerInch);
    }
    return {};
  }

  static std::string data_name(std::size_t box, std::size_t line) {
    return fmt::format("$d{}_{}", box, line);
  }

  void write_data() {
    for (std::size_t b = 0; b < figure_.boxes.size(); ++b) {
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
    out_ += "\nreset\n" + terminal + "\nset output " + quoted(path) + "\n";
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
    out_ += fmt::format("set border {}\n", box.bottom_border ? 3 : 2);
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
      list += fmt::format("{} {:.10g}", quoted(axis.show_ticks ? tick.text : ""), tick.at);
    }
    out_ += fmt::format("set {}tics scale {} ({})\n", name, axis.show_ticks ? 0.6 : 0, list);
  }

  void draw_lines(std::size_t index) {
    const auto& lines = figure_.boxes[index].lines;
    std::string plots;
    const auto add = [&](const std::string& plot) {
      plots += (plots.empty() ? "plot " : ", \\\n     ") + plot;
    };
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
      add(fmt::format("{} using 1:2 with lines lc rgb '{}' lw 1.8 dt {} notitle", data_name(index, l),
                      style.colour, style.dash));
      if (lines[l].markers) {
        add(fmt::format("{} using 1:2 with points lc rgb '{}' pt {} ps 0.8 notitle", data_name(index, l),
                        style.colour, style.marker));
      }
    }
    out_ += (plots.empty() ? "plot NaN notitle" : plots) + "\n";
  }

  // Texts, legend and axis breaks: a plot over the whole canvas whose coordinates are pixels. (Lines of the legend are
  // plotted, not drawn as arrows, because the SVG terminal draws every arrow solid.)
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
    out_ += fmt::format("set label {} at first {:.2f},{:.2f} {} {} textcolor rgb '{}'{}\n", quoted(text.text),
                        text.x, text.y, align, text.upright ? "rotate by 90" : "norotate", kInk,
                        text.bold ? " font " + quoted(bold_) : "");
  }

  // A straight line as a plot of its own two points.
  std::string segment(double x0, double y0, double x1, double y1, const std::string& style) {
    const auto name = fmt::format("$s{}", segments_++);
    out_ += fmt::format("{} << EOD\n{:.2f} {:.2f}\n{:.2f} {:.2f}\nEOD\n", name, x0, y0, x1, y1);
    return fmt::format("{} using 1:2 with lines {} notitle", name, style);
  }

  void add_legend(std::vector<std::string>& plots) {
    double y = figure_.legend_top - kLegendLine / 2;
    const double left = figure_.legend_left;
    for (const auto& entry : figure_.legend) {
      if (entry.line) {
        plots.push_back(
            segment(left, y, left + kLegendSample, y,
                    fmt::format("lc rgb '{}' lw 1.8 dt {}", entry.style.colour, entry.style.dash)));
      }
      if (entry.markers) {
        out_ += fmt::format("set label '' at first {:.2f},{:.2f} point lc rgb '{}' pt {} ps 0.8\n",
                            left + kLegendSample / 2, y, entry.style.colour, entry.style.marker);
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
  std::string bold_;  // font of the terminal at hand
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

double legend_height(const std::vector<LegendEntry>& legend) {
  double height = 0;
  for (const auto& entry : legend) {
    height +=
        kLegendLine * static_cast<double>(results::wrap(entry.title, kLegendCharacters).size()) + kLegendGap;
  }
  return height;
}

}  // namespace hyfreedp::plots
