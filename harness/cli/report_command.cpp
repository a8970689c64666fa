#include "harness/cli/report_command.h"

#include "harness/cli/outputs.h"
#include "harness/cli/spec_request.h"
#include "harness/cli/value_spec.h"
#include "results/table_model.h"

namespace hyfreedp::cli {
namespace {

constexpr const char* kUsage =
    "hyfreedp report NAME|SPEC.yaml [options]\n"
    "Writes the report of a spec in the database, one self-contained HTML file with tables, figures, what "
    "each row spent,\n"
    "failures and provenance: DIR/NAME/report.html (with --confidential: report.confidential.html). Trains "
    "nothing.\n"
    "Example: hyfreedp report quick --out out\n\n";

}  // namespace

int report_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  SpecRequest request;
  if (const auto code = parse_spec_request("report", kUsage, {}, arguments, request, out, err)) return *code;
  if (request.file && !runner::is_runnable(*request.file)) {
    return refused("report", error(no_rows_text(request.spec)), err);
  }
  const auto store = open_for_reading(request.out);
  if (!store) return refused("report", store.error(), err);
  const auto written =
      write_report(**store, request.spec, request.folder(), {.confidential = request.confidential});
  if (!written) return refused("report", written.error(), err);
  if (request.confidential) err << results::kWatermark << '\n';
  for (const auto& path : *written) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace hyfreedp::cli
