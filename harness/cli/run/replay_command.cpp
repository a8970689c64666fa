#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "datasets/facts.h"
#include "harness/base/text.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/owner_only.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/run/commands.h"
#include "harness/cli/run/replay_figure.h"
#include "harness/runner/odometer/release.h"
#include "plots/figures.h"
#include "results/store/records.h"
#include "results/table/cell_text.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;
using runner::ReplayedRow;

constexpr const char* kUsage =
    "hyfreedp replay POOL --rows SPEC.yaml [options]\n"
    "Repeats the rows of a spec over runs that are in the database already: accuracy against total epsilon, "
    "with\n"
    "intervals, and nothing trained. POOL is a spec whose runs are there (its name, or its file), best of "
    "nondp-gs rows:\n"
    "a grid of rates, several epsilons and seeds. Its un-noised validation accuracies are read, so the "
    "output "
    "is a\n"
    "simulation on oracle information and says so; where they are confidential, --confidential is needed.\n"
    "Example: hyfreedp replay replay-pool --rows experiments/replay.yaml --confidential\n\n";

constexpr const char* kWatermark =
    "SIMULATION on oracle information: methods replayed over runs trained once; no row here is a private "
    "release.";
constexpr double kMostRepeats = 1e6;

struct Request {
  SpecRequest pool;
  std::string rows;
  std::string csv;
  std::string plot;
  runner::ReplayOptions replay;
};

Result<std::int64_t> whole_number(const std::string& name, const std::string& text, double least,
                                  double most) {
  const auto value = parsed_number(text);
  if (value && *value >= least && *value <= most && std::floor(*value) == *value) {
    return static_cast<std::int64_t>(*value);
  }
  return error(fmt::format("--{} is '{}'; it must be a whole number from {} to {}.", name, text,
                           short_number(least), short_number(most)));
}

std::optional<int> parse(const std::vector<std::string>& arguments, Request& request, std::ostream& out,
                         std::ostream& err) {
  std::string repeats;
  std::string seed;
  std::string factor;
  options::options_description further;
  auto add = further.add_options();
  add("rows", options::value(&request.rows)->value_name("SPEC.yaml"), "the rows to repeat");
  add("repeats", options::value(&repeats)->default_value("1000")->value_name("N"), "of each row and epsilon");
  add("seed", options::value(&seed)->default_value("0")->value_name("S"), "of all draws");
  add("snap", options::value(&factor)->default_value("1.6")->value_name("F"),
      "a learning rate that the pool lacks is replaced by one at most this factor away");
  add("csv", options::value(&request.csv)->value_name("FILE"), "write the rows there too");
  add("plot", options::value(&request.plot)->value_name("FILE"), "draw them: .svg, .png or .pdf");
  if (const auto code = parse_spec_request("replay", kUsage, further, arguments, request.pool, out, err)) {
    return code;
  }
  if (request.rows.empty()) {
    return refused("replay", error("name the rows to repeat with --rows SPEC.yaml."), err);
  }
  const auto count = whole_number("repeats", repeats, 1, kMostRepeats);
  if (!count) return refused("replay", count.error(), err);
  const auto chosen = whole_number("seed", seed, 0, 1e15);
  if (!chosen) return refused("replay", chosen.error(), err);
  const auto snap = parsed_number(factor);
  if (!snap || !(*snap >= 1) || !std::isfinite(*snap)) {
    return refused("replay", error("--snap is '" + factor + "'; it must be a number of at least 1."), err);
  }
  request.replay = {.repeats = *count, .seed = *chosen, .max_rate_factor = *snap};
  if (!request.plot.empty()) {
    if (const auto kind = plots::drawable(request.plot); !kind) return refused("replay", kind.error(), err);
  }
  return std::nullopt;
}

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
void print_watermarks(const Request& request, std::ostream& out) {
  out << kWatermark << '\n';
  if (request.pool.confidential) out << results::kWatermark << '\n';
}

void print_rows(const runner::ReplayPool& pool, const Request& request, const std::vector<ReplayedRow>& rows,
                std::ostream& out) {
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

Result<void> write_files(const Request& request, const runner::Spec& spec,
                         const std::vector<ReplayedRow>& rows, std::ostream& out) {
  if (!request.csv.empty()) {
    const bool confidential = request.pool.confidential;
    if (auto written = write_output(request.csv, csv_of(rows, confidential), confidential, out); !written)
      return written;
  }
  if (request.plot.empty()) return {};
  const auto figure = replay_figure({.title = spec.content.title,
                                     .watermark = kWatermark,
                                     .confidential = request.pool.confidential ? results::kWatermark : "",
                                     .titles = titles_of(spec),
                                     .rows = rows});
  if (!figure) return figure.error();
  if (auto drawn = plots::draw_file(*figure, request.plot, request.pool.confidential); !drawn) return drawn;
  out << "Written: " << request.plot << '\n';
  return {};
}

}  // namespace

int replay_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Request request;
  if (const auto code = parse(arguments, request, out, err)) return *code;
  const auto& name = request.pool.spec;
  const auto rows_spec = runner::load_spec(request.rows);
  if (!rows_spec) return refused_lines("replay", rows_spec.error(), err);
  const auto store = open_for_reading("replay", request.pool, err);
  if (!store) return refused("replay", store.error(), err);
  const auto recorded = (**store).spec(name);
  if (!recorded) return refused("replay", recorded.error(), err);
  if (!*recorded) {
    return refused(
        "replay",
        error(fmt::format("the database holds no spec named '{}'; `hyfreedp run` trains it.", name)), err);
  }
  if (auto allowed = check_confidential(**recorded, request.pool.confidential); !allowed) {
    return refused("replay", allowed.error(), err);
  }
  const auto pool = runner::ReplayPool::open(**store, name);
  if (!pool) return refused("replay", pool.error(), err);
  const auto rows = runner::replay_spec(*rows_spec, *pool, request.replay);
  if (!rows) return refused("replay", rows.error(), err);
  print_rows(*pool, request, *rows, out);
  const OwnerOnly closed(request.pool.confidential);
  if (auto written = write_files(request, *rows_spec, *rows, out); !written) {
    return refused("replay", written.error(), err);
  }
  return 0;
}

}  // namespace hyfreedp::cli
