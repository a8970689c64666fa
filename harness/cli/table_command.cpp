#include "harness/cli/table_command.h"

#include "harness/cli/outputs.h"
#include "harness/cli/spec_request.h"
#include "results/csv_writer.h"
#include "results/ledger.h"
#include "results/markdown_writer.h"
#include "results/terminal_writer.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp table NAME [options]\n"
    "Prints the table of a spec in the database, and writes DIR/NAME/table.md and table.csv. Trains "
    "nothing.\n"
    "Example: hyfreedp table quick --out out\n\n";

}  // namespace

int table_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  SpecRequest request;
  std::string format;
  std::size_t width = 0;
  options::options_description further;
  auto add = further.add_options();
  add("format", options::value(&format)->default_value("terminal")->value_name("terminal|markdown|csv"),
      "what to print; markdown and csv write no files");
  bool ledger = false;
  add("ledger", options::bool_switch(&ledger),
      "instead of the table, what each private cell cost: training, tuning, total; writes no files");
  add("width", options::value(&width)->default_value(0)->value_name("N"),
      "columns of the terminal table; 0: the terminal's own");
  if (const auto code = parse_spec_request("table", kUsage, further, arguments, request, out, err))
    return *code;
  if (format != "terminal" && format != "markdown" && format != "csv") {
    return refused("table", error("--format is terminal, markdown or csv, not '" + format + "'."), err);
  }
  if (ledger && (format != "terminal" || width != 0)) {
    return refused("table", error("--ledger is text of one width; --format and --width do not go with it."),
                   err);
  }
  const auto store = open_for_reading(request.out);
  if (!store) return refused("table", store.error(), err);
  const auto table = results::build_table(**store, request.spec, {.confidential = request.confidential});
  if (!table) return refused("table", table.error(), err);
  if (ledger) {
    const auto lines = results::ledger_lines(**store, *table);
    if (!lines) return refused("table", lines.error(), err);
    return out << results::ledger_text(*table, *lines), 0;
  }
  if (format == "markdown") return out << results::markdown_table(*table), 0;
  if (format == "csv") return out << results::csv_table(*table), 0;
  auto style = results::style_of_standard_output();
  if (width > 0) style.width = width;
  out << results::terminal_table(*table, style);
  if (request.confidential) return 0;  // the files in DIR/NAME hold released values only
  const auto written = write_tables(*table, request.folder());
  if (!written) return refused("table", written.error(), err);
  out << '\n';
  for (const auto& path : *written) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace hyfreedp::cli
