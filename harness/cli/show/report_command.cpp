#include <algorithm>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/owner_only.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/value_spec.h"
#include "harness/cli/show/commands.h"
#include "plots/curves_figure.h"
#include "plots/gnuplot.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr std::size_t kMostSpecs = 200;

constexpr const char* kUsage =
    "hyfreedp report SPEC... [options]\n"
    "Writes one self-contained HTML file of specs in the database, by name or by file: contents, tables, "
    "figures, what\n"
    "each row spent, failures and provenance. Of one spec: DIR/NAME/report.html; of several: DIR/report.html "
    "(with\n"
    "--confidential: report.confidential.html). Files of specs that train nothing (accounting tables, "
    "papers' values\n"
    "alone) are computed. Trains nothing.\n"
    "Example: hyfreedp report quick experiments/papers/mohapatra/table-1.yaml --out out\n\n";

struct Request : SpecRequest {
  std::vector<std::string> specs;
  std::string output;
};

std::optional<int> parse(const std::vector<std::string>& arguments, Request& request, std::ostream& out,
                         std::ostream& err) {
  CommandLine line{.command = "report", .usage = kUsage, .positional = "spec-1"};
  for (std::size_t i = 2; i <= kMostSpecs; ++i) line.more_positional.push_back(fmt::format("spec-{}", i));
  add_shared_options(line.options, request);
  line.options.add_options()("output", options::value(&request.output)->value_name("FILE"),
                             "write the report there instead");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return code;
  for (std::size_t i = 1; i <= kMostSpecs; ++i) {
    const auto name = fmt::format("spec-{}", i);
    if (given.count(name) > 0) request.specs.push_back(given[name].as<std::string>());
  }
  if (!request.specs.empty()) return std::nullopt;
  return refused("report",
                 error("name a spec of the database, for example quick; see hyfreedp report --help."), err);
}

bool is_file(const std::string& spec) { return spec.ends_with(".yaml") || spec.ends_with(".yml"); }

// A spec's file that trains nothing.
Result<plots::ReportPart> value_part(const runner::Spec& spec, const std::string& out,
                                     std::vector<std::string>& paths) {
  const auto values = value_spec(spec);
  if (!values) return values.error();
  plots::ReportPart part{
      .id = spec.content.name, .document = results::document_of(values->table), .figures = {}};
  part.text = spec.text;
  if (const auto& reason = spec.content.not_runnable) {
    part.document.banners.push_back(not_runnable_text(*reason));
  }
  if (values->figures.empty()) return part;
  if (!find_program("gnuplot")) {
    part.figures.missing = plots::kNoGnuplot;
    return part;
  }
  std::vector<plots::Figure> figures;
  for (const auto& figure : values->figures) figures.push_back(plots::curves_figure(figure));
  auto drawn = plots::draw(figures, fmt::format("{}/{}/plots", out, part.id));
  if (!drawn) return drawn.error();
  for (const auto& one : *drawn) paths.insert(paths.end(), {one.svg, one.png});
  part.figures.drawn = std::move(*drawn);
  return part;
}

class Writer {
 public:
  Writer(const Request& request, std::ostream& err) : request_(request), err_(err) {}

  Result<std::vector<std::string>> write() {
    if (auto placed = place_figures(); !placed) return placed.error();
    std::vector<plots::ReportPart> parts;
    for (const auto& spec : request_.specs) {
      auto part = part_of(spec);
      if (!part) return part.error();
      if (std::any_of(parts.begin(), parts.end(), [&](const auto& known) { return known.id == part->id; })) {
        return error(fmt::format("'{}' is named twice.", spec));
      }
      parts.push_back(std::move(*part));
    }
    auto html = plots::report_html(store_.get(), parts);
    if (!html) return html.error();
    const auto folder =
        parts.size() == 1 ? fmt::format("{}/{}", request_.out, parts.front().id) : request_.out;
    const auto path = !request_.output.empty()
                          ? request_.output
                          : folder + (request_.confidential ? "/report.confidential.html" : "/report.html");
    const auto written = request_.output.empty() ? write_file_atomically(path, *html)
                                                 : write_named_file(path, *html, request_.confidential);
    if (!written) return written.error();
    if (scratch_) paths_.clear();
    paths_.insert(paths_.begin(), path);
    return std::move(paths_);
  }

 private:
  // Figures have files of their own where these can be written.
  Result<void> place_figures() {
    if (is_writable_folder(request_.out)) return {};
    if (request_.output.empty())
      return error(fmt::format("{} cannot be written; name a file with --output.", request_.out));
    auto scratch = ScratchFolder::make();
    if (!scratch) return scratch.error();
    scratch_.emplace(std::move(*scratch));
    figures_ = scratch_->path();
    return {};
  }

  Result<plots::ReportPart> part_of(const std::string& spec) {
    auto name = spec;
    std::optional<runner::Spec> file;
    if (is_file(spec)) {
      auto loaded = runner::load_spec(spec, request_.preset, request_.settings);
      if (!loaded) return loaded.error();
      if (!runner::is_runnable(*loaded)) return value_part(*loaded, figures_, paths_);
      name = loaded->content.name;
      file = std::move(*loaded);
    } else {
      const auto kept = value_spec_by_name(fmt::format("{}/{}", request_.out, name));
      if (!kept) return kept.error();
      if (*kept && !runner::is_runnable(**kept)) return value_part(**kept, figures_, paths_);
    }
    if (!store_) {
      auto opened = open_for_reading(request_.out);
      if (!opened) return opened.error();
      store_ = std::move(*opened);
    }
    if (file) warn_of_other_version("report", *store_, *file, err_);
    return report_part_of(*store_, name, fmt::format("{}/{}", figures_, name),
                          {.confidential = request_.confidential}, paths_);
  }

  const Request& request_;
  std::ostream& err_;
  std::optional<ScratchFolder> scratch_;
  std::string figures_ = request_.out;     // under which figures are drawn
  std::unique_ptr<results::Store> store_;  // opened where a spec needs it
  std::vector<std::string> paths_;
};

}  // namespace

int report_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Request request;
  if (const auto code = parse(arguments, request, out, err)) return *code;
  if (!request.settings.empty() && std::ranges::none_of(request.specs, is_file)) {
    return refused("report", error("--set is of a spec's file; name the file."), err);
  }
  for (const auto& spec : request.specs) {
    if (!is_file(spec)) continue;
    if (const auto loaded = runner::load_spec(spec, request.preset, request.settings); !loaded) {
      return refused_lines("report", loaded.error(), err);
    }
  }
  const OwnerOnly closed(request.confidential);
  const auto written = Writer(request, err).write();
  if (!written) return refused("report", written.error(), err);
  if (request.confidential) err << results::kWatermark << '\n';
  if (is_standard_output(request.output)) return 0;
  for (const auto& path : *written) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace hyfreedp::cli
