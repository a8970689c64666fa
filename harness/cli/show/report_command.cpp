#include <algorithm>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/value_spec.h"
#include "plots/curves_figure.h"
#include "plots/gnuplot.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Writes one self-contained HTML file of specs in the database, by name or by file: contents, tables,
figures, what each row spent, failures and provenance. Of one spec: DIR/NAME/report.html; of
several: DIR/report.html (with --confidential: report.confidential.html). Files of specs that train
nothing (accounting tables, papers' values alone) are computed. Trains nothing.
Example: hyfreedp report quick experiments/papers/mohapatra/table-1.yaml --out out)";

struct ReportRequest : SpecRequest {
  std::vector<std::string> specs;
  std::string output;

  void describe(Options& options) {
    options.list(specs, "specs", "SPEC...");
    describe_options(options);
    options.value(output, "output", "FILE", "write the report there instead");
  }
  Checked check() const;
};

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
  Writer(const ReportRequest& request, std::ostream& err) : request_(request), err_(err) {}

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
    if (is_file_of_spec(spec)) {
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
    WrittenPlots drawn;
    auto part = report_part_of(*store_, name, fmt::format("{}/{}", figures_, name),
                               {.confidential = request_.confidential}, drawn);
    paths_.insert(paths_.end(), drawn.paths.begin(), drawn.paths.end());
    return part;
  }

  const ReportRequest& request_;
  std::ostream& err_;
  std::optional<ScratchFolder> scratch_;
  std::string figures_ = request_.out;     // under which figures are drawn
  std::unique_ptr<results::Store> store_;  // opened where a spec needs it
  std::vector<std::string> paths_;
};

Checked ReportRequest::check() const {
  if (specs.empty()) return unusable("name a spec of the database, for example quick");
  if (!settings.empty() && std::ranges::none_of(specs, is_file_of_spec)) {
    return error("--set is of a spec's file; name the file.");
  }
  for (const auto& one : specs) {
    if (!is_file_of_spec(one)) continue;
    if (const auto loaded = runner::load_spec(one, preset, settings); !loaded)
      return in_lines(loaded.error());
  }
  return {};
}

Outcome report(const ReportRequest& request, std::ostream& out, std::ostream& err) {
  const OwnerOnly closed(request.confidential);
  const auto written = Writer(request, err).write();
  if (!written) return written.error();
  if (request.confidential) err << results::kWatermark << '\n';
  if (is_standard_output(request.output)) return 0;
  for (const auto& path : *written) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace

Command report_command() {
  return {"report", kText, action<ReportRequest>(report), "writes its HTML report again",
          "hyfreedp report quick"};
}

}  // namespace hyfreedp::cli
