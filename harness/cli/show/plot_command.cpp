#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/value_spec.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Draws the figures of a spec in the database into DIR/NAME/plots, as SVG and PNG, with the gnuplot
scripts beside them: those that the spec lists under `figures` (see hyfreedp list figures), or the
usual ones. They show released and test values only; with --confidential also runs of private
selection, into DIR/NAME/plots.confidential. Trains nothing.
Example: hyfreedp plot quick --out out)";

struct PlotRequest : SpecRequest {
  std::string format = "svg";

  void describe(Options& options) {
    SpecRequest::describe(options, "NAME|SPEC.yaml");
    options.value(format, "format", "KIND", "svg: SVG and PNG; pdf: PDF files beside them");
  }
};

Outcome plot(const PlotRequest& request, std::ostream& out, std::ostream& err) {
  const auto& format = request.format;
  if (format != "svg" && format != "pdf") {
    return error(fmt::format("--format is svg or pdf, not '{}'.", format));
  }
  if (request.file && !runner::is_runnable(*request.file)) {
    return error(no_rows_text(request.spec));
  }
  const auto store = open_for_reading("plot", request, err);
  if (!store) return store.error();
  if (!is_writable_folder(request.folder())) {
    return error(
        fmt::format("{} cannot be written; hyfreedp report {} --output FILE.html draws the figures "
                    "into one file.",
                    request.folder(), request.spec));
  }
  const OwnerOnly closed(request.confidential);
  const auto written = write_plots(**store, request.spec, request.folder(),
                                   {.confidential = request.confidential, .pdf = format == "pdf"});
  if (!written) return written.error();
  if (request.confidential) err << results::kWatermark << '\n';
  for (const auto& sentence : written->left_out) out << sentence << '\n';
  if (written->paths.empty() && written->left_out.empty()) {
    out << "There is nothing to draw yet: no row of '" << request.spec << "' is finished.\n";
  }
  for (const auto& path : written->paths) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace

Command plot_command() {
  return {"plot", kText, action<PlotRequest>(plot), "draws its plots again", "hyfreedp plot quick"};
}

}  // namespace hyfreedp::cli
