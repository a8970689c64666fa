#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "datasets/facts.h"
#include "harness/base/text.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/spec_request.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/replay/replay.h"
#include "plots/figure.h"
#include "plots/figures.h"
#include "plots/layout.h"
#include "plots/palette.h"
#include "results/store/records.h"
#include "results/table/cell_text.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

using runner::ReplayedRow;

constexpr std::string_view kText = R"(
Repeats the rows of a spec over runs that are in the database already: accuracy against total
epsilon, with intervals, and nothing trained. POOL is a spec whose runs are there (its name, or its
file), best of nondp-gs rows: a grid of rates, several epsilons and seeds. Its un-noised validation
accuracies are read, so the output is a simulation on oracle information and says so; where they are
confidential, --confidential is needed.
Example: hyfreedp replay replay-pool --rows experiments/replay.yaml --confidential)";

constexpr const char* kWatermark =
    "SIMULATION on oracle information: methods replayed over runs trained once; no row here is a private "
    "release.";
constexpr double kMostRepeats = 1e6;

Result<std::int64_t> whole_number(const std::string& name, const std::string& text, double least,
                                  double most) {
  const auto value = parsed_number(text);
  if (value && *value >= least && *value <= most && std::floor(*value) == *value) {
    return static_cast<std::int64_t>(*value);
  }
  return error(fmt::format("--{} is '{}'; it must be a whole number from {} to {}.", name, text,
                           short_number(least), short_number(most)));
}

struct ReplayRequest : SpecRequest {
  std::string rows;
  std::string repeats = "1000";
  std::string seed = "0";
  std::string snap = "1.6";
  std::string csv;
  std::string plot;
  runner::ReplayOptions replay = {};  // what these come to

  void describe(Options& options) {
    options.in_usage("--rows SPEC.yaml");
    SpecRequest::describe(options, "POOL");
    options.value(rows, "rows", "SPEC.yaml", "the rows to repeat");
    options.value(repeats, "repeats", "N", "of each row and epsilon");
    options.value(seed, "seed", "S", "of all draws");
    options.value(snap, "snap", "F",
                  "a learning rate that the pool lacks is replaced by one at most this factor away");
    options.value(csv, "csv", "FILE", "write the rows there too");
    options.value(plot, "plot", "FILE", "draw them: .svg, .png or .pdf");
  }

  Checked check() {
    if (auto checked = SpecRequest::check(); !checked) return checked;
    if (rows.empty()) return error("name the rows to repeat with --rows SPEC.yaml.");
    const auto count = whole_number("repeats", repeats, 1, kMostRepeats);
    if (!count) return count.error();
    const auto chosen = whole_number("seed", seed, 0, 1e15);
    if (!chosen) return chosen.error();
    const auto factor = parsed_number(snap);
    if (!factor || !(*factor >= 1) || !std::isfinite(*factor)) {
      return error("--snap is '" + snap + "'; it must be a number of at least 1.");
    }
    replay = {.repeats = *count, .seed = *chosen, .max_rate_factor = *factor};
    if (plot.empty()) return {};
    if (const auto kind = plots::drawable(plot); !kind) return kind.error();
    return {};
  }
};

// Validation accuracies were never noised, whoever knows the noise of the runs: they are
// confidential unless the data is nobody's.
Result<void> check_confidential(const results::SpecRecord& spec, bool asked) {
  if (asked) return {};
  const auto content = results::spec_of(spec);
  if (!content) return content.error();
  for (const auto& panel : content->panels) {
    const auto& name = panel.dataset.name;
    if (datasets::training_split_is_public(name, panel.dataset.options)) continue;
    return error(
        fmt::format("The pool '{}' holds un-noised validation accuracies of {}, which are confidential; "
                    "--confidential uses them, and what is printed then is confidential too.",
                    spec.name, name));
  }
  return {};
}

std::string epsilon_of(const std::optional<double>& epsilon) {
  return epsilon ? results::epsilon_text(*epsilon) : "-";
}

std::string share(std::int64_t part, std::int64_t whole) {
  const double percent =
      100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1));
  return part > 0 && percent < 0.1 ? "<0.1 %" : fmt::format("{:.1f} %", percent);
}

std::string failures_of(const ReplayedRow& row) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : row.failed)
    parts.push_back(fmt::format("{} {}", kind, share(count, row.repeats)));
  return parts.empty() ? "-" : join(parts, ", ");
}

std::vector<std::string> texts_of(const ReplayedRow& row) {
  const bool has_value = row.reported > 0;
  return {row.row,
          epsilon_of(row.epsilon_target),
          epsilon_of(row.epsilon),
          has_value ? fmt::format("{:.2f}", row.mean) : "-",
          has_value ? fmt::format("{:.2f} to {:.2f}", row.low, row.high) : "-",
          has_value ? fmt::format("{:.2f} to {:.2f}", row.percentile10, row.percentile90) : "-",
          fmt::format("{:.1f}", row.runs),
          failures_of(row),
          fmt::format("{}{}{}", row.label, row.flags.empty() ? "" : "; ", join(row.flags, "; "))};
}

void print_aligned(const std::vector<std::vector<std::string>>& lines, std::ostream& out) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(line.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], results::display_width(line[i]));
    }
  }
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      if (i + 1 < line.size()) text += std::string(widths[i] - results::display_width(line[i]) + 2, ' ');
    }
    out << text << '\n';
  }
}

void print_matching(const std::vector<ReplayedRow>& rows, double allowed, std::ostream& out) {
  std::int64_t requests = 0;
  std::int64_t snapped = 0;
  std::int64_t between = 0;
  double largest = 1;
  for (const auto& row : rows) {
    requests += row.requests;
    snapped += row.snapped;
    between += row.between_noises;
    largest = std::max(largest, row.largest_rate_factor);
  }
  out << fmt::format(
      "{} runs were taken from the pool: {} of them at a learning rate moved by at most a factor {} (--snap "
      "allows {}), {} "
      "at a noise\n"
      "beside the wanted one (one of two neighbours by chance, on average linear in the log of the noise).\n",
      requests, snapped, short_number(std::round(largest * 1000) / 1000), short_number(allowed), between);
}

// The first and the last thing that is said.
void print_watermarks(const ReplayRequest& request, std::ostream& out) {
  out << kWatermark << '\n';
  if (request.confidential) out << results::kWatermark << '\n';
}

void print_rows(const runner::ReplayPool& pool, const ReplayRequest& request,
                const std::vector<ReplayedRow>& rows, std::ostream& out) {
  print_watermarks(request, out);
  std::string panel;
  std::vector<std::vector<std::string>> lines;
  const std::vector<std::string> head{"row",        "target ε", "total ε", "accuracy %", "95 % of the mean",
                                      "10 to 90 %", "runs",     "failed",  "label"};
  const auto flush = [&] {
    if (lines.size() > 1) print_aligned(lines, out);
    lines = {head};
  };
  for (const auto& row : rows) {
    if (row.panel != panel) {
      flush();
      panel = row.panel;
      out << "\n" << panel << "\n";
    }
    lines.push_back(texts_of(row));
  }
  flush();
  out << fmt::format(
      "\n{} repeats of each line, seed {}. Pool: {} runs at {} settings, at least {} seeds each; the "
      "interval covers the draws and the pool's few seeds.\n",
      request.replay.repeats, request.replay.seed, pool.runs(), pool.cells(), pool.fewest_runs());
  print_matching(rows, request.replay.max_rate_factor, out);
  print_watermarks(request, out);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string inner;
  for (const char c : text) inner.append(c == '"' ? 2 : 1, c);
  return fmt::format("\"{}\"", inner);
}

// Numbers as JSON writes them, accuracies in percent.
std::string csv_of(const std::vector<ReplayedRow>& rows, bool confidential) {
  std::string csv =
      "panel,row,method,label,flags,target_epsilon,total_epsilon,repeats,reported,mean,low95,high95,p10,p90,"
      "failed_share,mean_runs,requests,snapped,largest_rate_factor,between_noises,note";
  csv += confidential ? ",watermark\r\n" : "\r\n";
  const auto text = [](const std::optional<double>& value) {
    return value ? canonical_json(number(*value)) : "";
  };
  for (const auto& row : rows) {
    const bool has = row.reported > 0;
    const auto value = [&](double one) { return has ? canonical_json(number(one)) : std::string(); };
    const double failed = 1 - static_cast<double>(row.reported) / static_cast<double>(row.repeats);
    std::vector<std::string> fields{row.panel,
                                    row.row,
                                    row.method,
                                    row.label,
                                    join(row.flags, "; "),
                                    text(row.epsilon_target),
                                    text(row.epsilon),
                                    std::to_string(row.repeats),
                                    std::to_string(row.reported),
                                    value(row.mean),
                                    value(row.low),
                                    value(row.high),
                                    value(row.percentile10),
                                    value(row.percentile90),
                                    canonical_json(number(failed)),
                                    canonical_json(number(row.runs)),
                                    std::to_string(row.requests),
                                    std::to_string(row.snapped),
                                    canonical_json(number(row.largest_rate_factor)),
                                    std::to_string(row.between_noises),
                                    kWatermark};
    if (confidential) fields.emplace_back(results::kWatermark);
    std::vector<std::string> written;
    written.reserve(fields.size());
    for (const auto& field : fields) written.push_back(quoted(field));
    csv += join(written, ",");
    csv += "\r\n";
  }
  return csv;
}

std::map<std::string, std::string> titles_of(const runner::Spec& spec) {
  std::map<std::string, std::string> titles;
  for (const auto& panel : spec.content.panels) {
    for (const auto& row : panel.rows) titles.emplace(row.id, row.title);
  }
  return titles;
}

using plots::Text;

constexpr double kBoxWidth = 380;
constexpr double kBoxHeight = 330;
constexpr double kBoxGap = 84;
constexpr double kApart = 1.012;  // between neighbouring lines, of epsilon

// Mean accuracy of replayed rows against their total epsilon: a box a panel, a line a row, bars of
// the 95 % interval.
struct ReplayFigure {
  std::string title;
  std::string watermark;                      // said in the figure itself
  std::string confidential;                   // the same, above it, where the output is
  std::map<std::string, std::string> titles;  // of rows, by id
  const std::vector<runner::ReplayedRow>& rows;
};

// A row's place in the legend and its style, equal in all panels.
struct Styles {
  explicit Styles(const std::vector<runner::ReplayedRow>& all) : colours(methods_of(all)) {}

  std::vector<std::string> rows;
  std::map<std::string, plots::LineStyle> by_row;

  void add(const runner::ReplayedRow& row) {
    if (by_row.contains(row.row)) return;
    const auto variant = variants[row.method]++;
    by_row[row.row] = colours.style(row.method, variant, rows.size());
    rows.push_back(row.row);
  }

 private:
  static std::vector<std::string> methods_of(const std::vector<runner::ReplayedRow>& all) {
    std::vector<std::string> methods;
    methods.reserve(all.size());
    for (const auto& row : all) methods.push_back(row.method);
    return methods;
  }

  plots::MethodColours colours;
  std::map<std::string, std::size_t> variants;
};

bool is_drawn(const runner::ReplayedRow& row) { return row.epsilon && row.reported > 0; }

void scale(plots::Box& box) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  double lowest = least;
  double highest = -least;
  for (const auto& line : box.lines) {
    for (const auto& point : line.points) {
      least = std::min(least, point.x);
      most = std::max(most, point.x);
      lowest = std::min(lowest, *point.low);
      highest = std::max(highest, *point.high);
    }
  }
  box.x.logarithmic = true;
  box.x.from = least / 1.2;
  box.x.to = most * 1.2;
  box.x.ticks = plots::logarithmic_ticks(box.x.from, box.x.to);
  const double margin = std::max(0.05 * (highest - lowest), 0.1);
  box.y.from = lowest - margin;
  box.y.to = highest + margin;
  box.y.ticks = plots::linear_ticks(box.y.from, box.y.to, 6);
}

// Rows at the same total epsilon would hide each other: lines stand side by side, each moved by the
// same factor everywhere.
void set_apart(std::vector<plots::Line>& lines) {
  if (lines.size() < 2) return;
  const double middle = static_cast<double>(lines.size() - 1) / 2;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double factor = std::pow(kApart, static_cast<double>(i) - middle);
    for (auto& point : lines[i].points) point.x *= factor;
  }
}

plots::Box box_of(const std::vector<const runner::ReplayedRow*>& rows, const Styles& styles, double left) {
  plots::Box box{.left = left,
                 .right = left + kBoxWidth,
                 .bottom = plots::kBottomMargin + plots::kTitleHeight,
                 .top = plots::kBottomMargin + plots::kTitleHeight + kBoxHeight,
                 .x = {},
                 .y = {},
                 .lines = {}};
  for (const auto& name : styles.rows) {
    plots::Line line{.style = styles.by_row.at(name), .points = {}, .markers = true, .error_bars = true};
    for (const auto* row : rows) {
      if (row->row == name) line.points.push_back({*row->epsilon, row->mean, row->low, row->high});
    }
    std::ranges::sort(line.points, {}, &plots::Point::x);
    if (!line.points.empty()) box.lines.push_back(std::move(line));
  }
  set_apart(box.lines);
  scale(box);
  return box;
}

// An error where no private row has a value.
Result<plots::Figure> replay_figure(const ReplayFigure& request) {
  Styles styles(request.rows);
  std::vector<std::string> panels;
  std::map<std::string, std::vector<const runner::ReplayedRow*>> by_panel;
  for (const auto& row : request.rows) {
    if (!is_drawn(row)) continue;
    styles.add(row);
    if (!by_panel.contains(row.panel)) panels.push_back(row.panel);
    by_panel[row.panel].push_back(&row);
  }
  if (panels.empty()) return error("There is nothing to draw: no private row has a value.");
  plots::Figure figure{.name = "replay",
                       .title = request.title,
                       .caption = fmt::format("{}. Rows are set apart by about a hundredth of ε. {}{}{}",
                                              request.title, request.watermark,
                                              request.confidential.empty() ? "" : " ", request.confidential)};
  const auto boxes = static_cast<double>(panels.size());
  figure.width = plots::kLeftMargin + boxes * kBoxWidth + (boxes - 1) * kBoxGap + plots::kRightMargin;
  figure.height = plots::kBottomMargin + kBoxHeight + 3.4 * plots::kTitleHeight;
  figure.texts.push_back(
      {plots::kLeftMargin, figure.height - 18, request.title, Text::Align::left, true, false});
  figure.texts.push_back({plots::kLeftMargin, 12, request.watermark, Text::Align::left, false, false});
  if (!request.confidential.empty()) {
    figure.texts.push_back(
        {plots::kLeftMargin, figure.height - 36, request.confidential, Text::Align::left, true, false});
  }
  double left = plots::kLeftMargin;
  for (const auto& panel : panels) {
    auto box = box_of(by_panel[panel], styles, left);
    const double middle = (box.left + box.right) / 2;
    figure.texts.push_back({middle, box.top + 12, panel, Text::Align::centre, false, false});
    figure.texts.push_back({middle, box.bottom - plots::kAxisLabelDrop,
                            "total ε, tuning included (log scale)", Text::Align::centre, false, false});
    figure.texts.push_back({box.left - 52, (box.bottom + box.top) / 2, "mean test accuracy, %",
                            Text::Align::centre, false, true});
    figure.boxes.push_back(std::move(box));
    left += kBoxWidth + kBoxGap;
  }
  std::vector<plots::LegendEntry> legend;
  for (const auto& name : styles.rows) {
    const auto title = request.titles.find(name);
    legend.push_back({title == request.titles.end() ? name : title->second, styles.by_row.at(name), true});
  }
  plots::add_legend(figure, std::move(legend), plots::kBottomMargin + plots::kTitleHeight + kBoxHeight);
  return figure;
}

Result<void> write_files(const ReplayRequest& request, const runner::Spec& spec,
                         const std::vector<ReplayedRow>& rows, std::ostream& out) {
  if (!request.csv.empty()) {
    const bool confidential = request.confidential;
    if (auto written = write_output(request.csv, csv_of(rows, confidential), confidential, out); !written)
      return written;
  }
  if (request.plot.empty()) return {};
  const auto figure = replay_figure({.title = spec.content.title,
                                     .watermark = kWatermark,
                                     .confidential = request.confidential ? results::kWatermark : "",
                                     .titles = titles_of(spec),
                                     .rows = rows});
  if (!figure) return figure.error();
  if (auto drawn = plots::draw_file(*figure, request.plot, request.confidential); !drawn) return drawn;
  out << "Written: " << request.plot << '\n';
  return {};
}

Outcome replay(const ReplayRequest& request, std::ostream& out, std::ostream& err) {
  const auto& name = request.spec;
  const auto rows_spec = runner::load_spec(request.rows);
  if (!rows_spec) return in_lines(rows_spec.error());
  const auto store = open_for_reading("replay", request, err);
  if (!store) return store.error();
  const auto recorded = (**store).spec(name);
  if (!recorded) return recorded.error();
  if (!*recorded) {
    return error(fmt::format("the database holds no spec named '{}'; `hyfreedp run` trains it.", name));
  }
  if (auto allowed = check_confidential(**recorded, request.confidential); !allowed) {
    return allowed.error();
  }
  const auto pool = runner::ReplayPool::open(**store, name);
  if (!pool) return pool.error();
  const auto rows = runner::replay_spec(*rows_spec, *pool, request.replay);
  if (!rows) return rows.error();
  print_rows(*pool, request, *rows, out);
  const OwnerOnly closed(request.confidential);
  if (auto written = write_files(request, *rows_spec, *rows, out); !written) {
    return written.error();
  }
  return 0;
}

}  // namespace

Command replay_command() {
  return {"replay", kText, action<ReplayRequest>(replay),
          "repeats methods thousands of times over stored runs: accuracy against total epsilon",
          "hyfreedp replay replay-pool --rows experiments/replay.yaml --confidential"};
}

}  // namespace hyfreedp::cli
