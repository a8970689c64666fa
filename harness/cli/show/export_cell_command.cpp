#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/cli/common/cell_request.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/show/commands.h"
#include "harness/runner/execute/cell_export.h"
#include "results/provenance/cell_file.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp export-cell SPEC ROW COLUMN --output FILE.json [options]\n"
    "A cell as one small JSON file: the resolved row, and of each seed the run's config, its test "
    "accuracies, the executed\n"
    "events and how they compose. hyfreedp verify FILE.json derives mean, deviation and epsilon from it "
    "alone. Nothing\n"
    "confidential is in it: of a private selection the law of its number of runs and the events of one run.\n"
    "Exit code: 0, 1 where the row's numbers do not follow from its events (the file is written), 2 bad "
    "input.\n"
    "Example: hyfreedp export-cell quick prodigy 3 --output cell.json --out out\n\n";

}  // namespace

int export_cell_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CellCommand request;
  std::string path;
  options::options_description further;
  further.add_options()("output", options::value(&path)->value_name("FILE"),
                        "the file; default: standard output");
  if (const auto code = parse_cell_command("export-cell", kUsage, further, arguments, request, out, err))
    return *code;
  const auto store = open_for_reading(request.out);
  if (!store) return refused("export-cell", store.error(), err);
  const auto cell = runner::export_cell(**store, request.spec, request.cell);
  if (!cell) return refused("export-cell", cell.error(), err);
  const auto text = pretty_json(*cell);
  if (path.empty()) {
    out << text;
  } else {
    if (auto written = write_named_file(path, text); !written)
      return refused("export-cell", written.error(), err);
    if (!is_standard_output(path))
      out << fmt::format("Written: {} ({} bytes); hyfreedp verify {} checks it.\n", path, text.size(), path);
  }
  const auto verified = results::verify_cell(*cell);
  if (!verified) return refused("export-cell", verified.error(), err);
  if (verified->agrees()) return 0;
  err << "hyfreedp export-cell: the row does not follow from its events; `hyfreedp verify` shows the "
         "differences.\n";
  return 1;
}

}  // namespace hyfreedp::cli
