#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/owner_only.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/table_format.h"
#include "harness/cli/common/value_spec.h"
#include "harness/cli/show/commands.h"
#include "harness/runner/execute/other_code.h"
#include "results/provenance/ledger.h"
#include "results/table/terminal_writer.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp table NAME|SPEC.yaml [options]\n"
    "Prints the table of a spec in the database, and writes DIR/NAME/table.{md,csv,tex,html}. "
    "Trains nothing.\n"
    "Example: hyfreedp table quick --out out\n\n";

// Prints `text`, or writes it to `file` where one is named. The exit code.
int give(const std::string& text, const std::string& file, bool owner_only, std::ostream& out,
         std::ostream& err) {
  if (file.empty()) return out << text, 0;
  const auto written = write_output(file, text, owner_only, out);
  return written ? 0 : refused("table", written.error(), err);
}

// The table of a spec's file that trains nothing.
int value_table(const SpecRequest& request, TableFormat format, const results::TerminalStyle& style,
                const std::string& file, std::ostream& out, std::ostream& err) {
  const auto values = value_spec(*request.file);
  if (!values) return refused("table", values.error(), err);
  if (const int code = give(formatted(values->table, format, style), file, false, out, err); code != 0)
    return code;
  if (!file.empty() || format != TableFormat::terminal) return 0;
  out << '\n';
  const auto written = write_value_spec(*values, *request.file, request.folder(), out);
  return written ? 0 : refused("table", written.error(), err);
}

// What a command line may say over the spec's own `table`.
struct Overrides {
  bool paper = false, ranks = false, mdd = false;
  std::string interval;
  int last_checkpoints = 0;

  void add_to(options::options_description& line) {
    auto add = line.add_options();
    add("paper", options::bool_switch(&paper),
        "the paper's values, and how the rows rank by ours and by its; differences where the task is the "
        "paper's");
    add("interval", options::value(&interval)->value_name("none|t|bootstrap"), "95 % interval of each mean");
    add("ranks", options::bool_switch(&ranks), "a column of mean ranks");
    add("mdd", options::bool_switch(&mdd), "the smallest difference that the seeds could have shown");
    add("last-checkpoints", options::value(&last_checkpoints)->value_name("K"),
        "a run's value is the mean over its last K evaluations. With any of these, files are left as they "
        "are");
  }

  bool any() const { return paper || ranks || mdd || !interval.empty() || last_checkpoints != 0; }

  Result<spec::Table> given() const {
    spec::Table table;
    if (paper) table.paper = true;
    if (ranks) table.ranks = true;
    if (mdd) table.mdd = true;
    if (last_checkpoints != 0) table.last_checkpoints = last_checkpoints;
    if (interval.empty()) return table;
    const auto kind = enum_from<spec::IntervalKind>(interval, "--interval");
    if (!kind) return kind.error();
    table.interval = *kind;
    return table;
  }
};

}  // namespace

int table_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  SpecRequest request;
  std::string format_name, file;
  std::size_t width = 0;
  options::options_description further;
  auto add = further.add_options();
  add("format", options::value(&format_name)->default_value("terminal")->value_name(kTableFormats),
      "what to print; any but terminal writes no other files. tex-table: without a document around it");
  add("output", options::value(&file)->value_name("FILE"),
      "write what would be printed to FILE instead, and no other files");
  bool ledger = false;
  add("ledger", options::bool_switch(&ledger),
      "instead of the table, what each private cell cost: training, tuning, total; writes no files");
  add("width", options::value(&width)->default_value(0)->value_name("N"),
      "columns of the terminal table; 0: the terminal's own");
  Overrides overrides;
  overrides.add_to(further);
  if (const auto code = parse_spec_request("table", kUsage, further, arguments, request, out, err))
    return *code;
  const auto format = table_format_from(format_name);
  if (!format) return refused("table", format.error(), err);
  if (ledger && (*format != TableFormat::terminal || width != 0 || !file.empty())) {
    return refused("table",
                   error("--ledger is text of one width; --format, --output and --width do not go with it."),
                   err);
  }
  auto style = file.empty() ? results::style_of_standard_output() : results::TerminalStyle{};
  if (width > 0) style.width = width;
  if (request.file && !runner::is_runnable(*request.file)) {
    if (ledger) return refused("table", error(no_rows_text(request.spec)), err);
    return value_table(request, *format, style, file, out, err);
  }
  const auto over = overrides.given();
  if (!over) return refused("table", over.error(), err);
  const OwnerOnly closed(request.confidential);
  const auto store = open_for_reading("table", request, err);
  if (!store) return refused("table", store.error(), err);
  const auto table =
      results::build_table(**store, request.spec, {.confidential = request.confidential, .overrides = *over});
  if (!table) return refused("table", table.error(), err);
  if (ledger) {
    const auto lines = results::ledger_lines(**store, *table);
    if (!lines) return refused("table", lines.error(), err);
    return out << results::ledger_text(*table, *lines), 0;
  }
  const auto text = formatted(*table, *format, style);
  if (const int code = give(text, file, request.confidential, out, err); code != 0) return code;
  const auto other_code = runner::other_code_note(**store, request.spec, "");
  if (!other_code) return refused("table", other_code.error(), err);
  if (!other_code->empty()) err << fmt::format("hyfreedp table: {}\n", *other_code);
  if (!file.empty()) return 0;
  if (*format != TableFormat::terminal) return 0;
  // The files in DIR/NAME are the spec's own table.
  if (overrides.any()) return 0;
  if (request.confidential) return 0;  // the files in DIR/NAME hold released values only
  if (!is_writable_folder(request.folder())) {
    err << fmt::format(
        "hyfreedp table: note: {} cannot be written, so table.md, .csv, .tex and .html there are as they "
        "were.\n",
        request.folder());
    return 0;
  }
  const auto written = write_tables(*table, request.folder());
  if (!written) return refused("table", written.error(), err);
  out << '\n';
  for (const auto& path : *written) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace hyfreedp::cli
