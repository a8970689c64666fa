#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/named_file.h"
#include "harness/cli/common/outputs.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/common/value_spec.h"
#include "harness/runner/execute/other_code.h"
#include "results/provenance/ledger.h"
#include "results/table/terminal_writer.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
Prints the table of a spec in the database, and writes DIR/NAME/table.{md,csv,tex,html}. Trains
nothing.
Example: hyfreedp table quick --out out)";

struct TableRequest : SpecRequest {
  std::string format = "terminal";
  std::string output;
  bool ledger = false;
  int width = 0;
  // Settings of the command line that go before those of the spec's own `table`.
  bool paper = false, ranks = false, mdd = false;
  std::string interval;
  std::optional<int> last_checkpoints;

  void describe(Options& options) {
    SpecRequest::describe(options, "NAME|SPEC.yaml");
    options.value(format, "format", kTableFormats,
                  "what to print; any but terminal writes no other files. tex-table: without a document "
                  "around it");
    options.value(output, "output", "FILE",
                  "write what would be printed to FILE instead, and no other files");
    options.flag(ledger, "ledger",
                 "instead of the table, what each private cell cost: training, tuning, total; writes no "
                 "files");
    options.value(width, "width", "N", "columns of the terminal table; 0: the terminal's own");
    options.flag(paper, "paper",
                 "the paper's values, and how the rows rank by ours and by its; differences where the task "
                 "is the paper's");
    options.value(interval, "interval", "none|t|bootstrap", "95 % interval of each mean");
    options.flag(ranks, "ranks", "a column of mean ranks");
    options.flag(mdd, "mdd", "the smallest difference that the seeds could have shown");
    options.value(last_checkpoints, "last-checkpoints", "K",
                  "a run's value is the mean over its last K evaluations. With any of these, files are left "
                  "as they are");
  }

  bool has_overrides() const { return paper || ranks || mdd || !interval.empty() || last_checkpoints; }

  Result<spec::Table> overrides() const {
    spec::Table table;
    if (paper) table.paper = true;
    if (ranks) table.ranks = true;
    if (mdd) table.mdd = true;
    if (last_checkpoints) table.last_checkpoints = *last_checkpoints;
    if (interval.empty()) return table;
    const auto kind = enum_from<spec::IntervalKind>(interval, "--interval");
    if (!kind) return kind.error();
    table.interval = *kind;
    return table;
  }

  // Prints `text`, or writes it to --output.
  Result<void> give(const std::string& text, bool owner_only, std::ostream& terminal) const {
    if (!output.empty()) return write_output(output, text, owner_only, terminal);
    terminal << text;
    return {};
  }
};

// The table of a spec's file that trains nothing.
Outcome value_table(const TableRequest& request, TableFormat format, const results::TerminalStyle& style,
                    std::ostream& out) {
  const auto values = value_spec(*request.file);
  if (!values) return values.error();
  const auto given = request.give(formatted(values->table, format, style), false, out);
  if (!given) return given.error();
  if (!request.output.empty() || format != TableFormat::terminal) return 0;
  out << '\n';
  const auto written = write_value_spec(*values, *request.file, request.folder(), out);
  if (!written) return written.error();
  return 0;
}

Outcome table(const TableRequest& request, std::ostream& out, std::ostream& err) {
  const auto format = table_format_from(request.format);
  if (!format) return format.error();
  const bool is_terminal = *format == TableFormat::terminal;
  if (request.ledger && (!is_terminal || request.width != 0 || !request.output.empty())) {
    return error("--ledger is text of one width; --format, --output and --width do not go with it.");
  }
  if (request.ledger && request.has_overrides()) {
    return error(
        "--ledger prints costs and no table; --paper, --interval, --ranks, --mdd and --last-checkpoints do "
        "not go with it.");
  }
  if (request.last_checkpoints && *request.last_checkpoints < 1)
    return error("--last-checkpoints must be 1 or more evaluations.");
  if (request.width < 0) return error("--width must be 0 or more columns.");
  if (request.width > 0 && !is_terminal) {
    return error(fmt::format("--width is of the terminal table; --format {} has none.", request.format));
  }
  auto style = request.output.empty() ? results::style_of_standard_output() : results::TerminalStyle{};
  if (request.width > 0) style.width = static_cast<std::size_t>(request.width);
  if (request.file && !runner::is_runnable(*request.file)) {
    if (request.ledger) return error(no_rows_text(request.spec));
    return value_table(request, *format, style, out);
  }
  const auto over = request.overrides();
  if (!over) return over.error();
  const OwnerOnly closed(request.confidential);
  const auto store = open_for_reading("table", request, err);
  if (!store) return store.error();
  const auto table =
      results::build_table(**store, request.spec, {.confidential = request.confidential, .overrides = *over});
  if (!table) return table.error();
  if (request.ledger) {
    const auto lines = results::ledger_lines(**store, *table);
    if (!lines) return lines.error();
    return out << results::ledger_text(*table, *lines), 0;
  }
  const auto given = request.give(formatted(*table, *format, style), request.confidential, out);
  if (!given) return given.error();
  const auto other_code = runner::other_code_note(**store, request.spec, "");
  if (!other_code) return other_code.error();
  if (!other_code->empty()) err << fmt::format("hyfreedp table: {}\n", *other_code);
  // The files in DIR/NAME are the spec's own table, and hold released values only.
  if (!request.output.empty() || *format != TableFormat::terminal || request.has_overrides() ||
      request.confidential) {
    return 0;
  }
  if (!is_writable_folder(request.folder())) {
    err << fmt::format(
        "hyfreedp table: note: {} cannot be written, so table.md, .csv, .tex and .html there are as they "
        "were.\n",
        request.folder());
    return 0;
  }
  const auto written = write_tables(*table, request.folder());
  if (!written) return written.error();
  out << '\n';
  for (const auto& path : *written) out << "Written: " << path << '\n';
  return 0;
}

}  // namespace

Command table_command() {
  return {"table", kText, action<TableRequest>(table), "prints a finished or running spec's table again",
          "hyfreedp table quick"};
}

}  // namespace hyfreedp::cli
