#include "harness/cli/plot_command.h"

#include "harness/cli/outputs.h"
#include "harness/cli/spec_request.h"

namespace hyfreedp::cli {
namespace {

constexpr const char* kUsage =
    "hyfreedp plot NAME [options]\n"
    "Draws the figures of a spec in the database into DIR/NAME/plots, as SVG and PNG, with the gnuplot "
    "scripts beside\n"
    "them. Figures show released and test values only. Trains nothing.\n"
    "Example: hyfreedp plot quick --out out\n\n";

}  // namespace

int plot_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  SpecRequest request;
  if (const auto code = parse_spec_request("plot", kUsage, {}, arguments, request, out, err)) return *code;
  if (request.confidential) {
    return refused("plot", error("figures show no confidential values; see hyfreedp table --confidential"),
                   err);
  }
  const auto store = open_for_reading(request.out);
  if (!store) return refused("plot", store.error(), err);
  const auto written = write_plots(**store, request.spec, request.folder());
  if (!written) return refused("plot", written.error(), err);
  if (written->empty())
    out << "There is nothing to draw yet: no row of '" << request.spec << "' is finished.\n";
  for (const auto& path : *written) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace hyfreedp::cli
