#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/cli/common/spec_request.h"
#include "harness/runner/execute/cell_export.h"
#include "results/provenance/cell_file.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
A cell as one small JSON file: the resolved row, and of each seed the run's config, its test
accuracies, the executed events and how they compose. hyfreedp verify FILE.json derives mean,
deviation and epsilon from it alone. Nothing confidential is in it: of a private selection the law
of its number of runs and the events of one run.
Exit code: 0, 1 where the row's numbers do not follow from its events (the file is written), 2 bad
input.
Example: hyfreedp export-cell quick prodigy 3 --output cell.json --out out)";

struct ExportCellRequest : CellRequest {
  std::string output;

  void describe(Options& options) {
    CellRequest::describe(options);
    options.in_usage("--output FILE.json");
    options.value(output, "output", "FILE", "the file; default: standard output");
  }
  Checked check() const { return CellRequest::check("export-cell"); }
};

Outcome export_cell(const ExportCellRequest& request, std::ostream& out, std::ostream& err) {
  const auto store = open_for_reading(request.out);
  if (!store) return store.error();
  const auto cell = runner::export_cell(**store, request.spec, request.cell);
  if (!cell) return cell.error();
  const auto text = pretty_json(*cell);
  const auto& path = request.output;
  if (path.empty()) {
    out << text;
  } else {
    if (auto written = write_named_file(path, text); !written) return written.error();
    if (!is_standard_output(path))
      out << fmt::format("Written: {} ({} bytes); hyfreedp verify {} checks it.\n", path, text.size(), path);
  }
  const auto verified = results::verify_cell(*cell);
  if (!verified) return verified.error();
  if (verified->agrees()) return 0;
  err << "hyfreedp export-cell: the row does not follow from its events; `hyfreedp verify` shows the "
         "differences.\n";
  return 1;
}

}  // namespace

Command export_cell_command() {
  return {"export-cell", kText, action<ExportCellRequest>(export_cell),
          "a cell as one small file that can be checked by itself",
          "hyfreedp export-cell quick prodigy 3 --output cell.json"};
}

}  // namespace hyfreedp::cli
