#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/owner_only.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/value_spec.h"
#include "harness/cli/show/commands.h"

namespace hyfreedp::cli {
namespace {

constexpr const char* kUsage =
    "hyfreedp plot NAME|SPEC.yaml [options]\n"
    "Draws the figures of a spec in the database into DIR/NAME/plots, as SVG and PNG, with the gnuplot "
    "scripts beside\n"
    "them: those that the spec lists under `figures` (see hyfreedp list figures), or the usual ones. They "
    "show released\n"
    "and test values only; with --confidential also runs of private selection, into "
    "DIR/NAME/plots.confidential. Trains\n"
    "nothing.\n"
    "Example: hyfreedp plot quick --out out\n\n";

}  // namespace

int plot_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  SpecRequest request;
  std::string format = "svg";
  boost::program_options::options_description further;
  further.add_options()("format",
                        boost::program_options::value(&format)->default_value("svg")->value_name("KIND"),
                        "svg: SVG and PNG; pdf: PDF files beside them");
  if (const auto code = parse_spec_request("plot", kUsage, further, arguments, request, out, err))
    return *code;
  if (format != "svg" && format != "pdf") {
    return refused("plot", error(fmt::format("--format is svg or pdf, not '{}'.", format)), err);
  }
  if (request.file && !runner::is_runnable(*request.file)) {
    return refused("plot", error(no_rows_text(request.spec)), err);
  }
  const auto store = open_for_reading("plot", request, err);
  if (!store) return refused("plot", store.error(), err);
  if (!is_writable_folder(request.folder())) {
    return refused("plot",
                   error(fmt::format("{} cannot be written; hyfreedp report {} --output FILE.html draws the "
                                     "figures into one file.",
                                     request.folder(), request.spec)),
                   err);
  }
  const OwnerOnly closed(request.confidential);
  const auto written = write_plots(**store, request.spec, request.folder(),
                                   {.confidential = request.confidential, .pdf = format == "pdf"});
  if (!written) return refused("plot", written.error(), err);
  if (request.confidential) err << results::kWatermark << '\n';
  for (const auto& sentence : written->left_out) out << sentence << '\n';
  if (written->paths.empty() && written->left_out.empty()) {
    out << "There is nothing to draw yet: no row of '" << request.spec << "' is finished.\n";
  }
  for (const auto& path : written->paths) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace hyfreedp::cli
