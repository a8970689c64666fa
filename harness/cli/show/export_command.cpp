#include "harness/cli/common/spec_request.h"
#include "harness/cli/show/commands.h"
#include "results/provenance/export.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp export events ID [--out DIR]           a trial's executed events, for `hyfreedp epsilon "
    "--events FILE`\n"
    "hyfreedp export rows NAME [--times] [--out DIR] one line of canonical JSON a study, the same bytes for "
    "the same spec\n"
    "hyfreedp export values NAME [--steps] [--format csv|jsonl] [--out DIR]  every seed's values in long "
    "form, one number a line\n"
    "Example: hyfreedp export events 0f3a52b1c4d5e6f7 --out out > events.json\n"
    "         hyfreedp export rows quick --out out > rows.jsonl\n"
    "         hyfreedp export values quick --out out > values.csv\n\n";

constexpr const char* kValuesUsage =
    "hyfreedp export values NAME [options]\n"
    "Every seed's values in long form (spec, panel, row, epsilon, seed, step, metric, value), one number a "
    "line: test\n"
    "accuracy and loss of the reported runs at each evaluation, and the epsilon that was spent. As CSV for "
    "pandas, R, a\n"
    "spreadsheet, or as JSON Lines. The database's views have the same for SQL (results/VIEWS.md).\n"
    "Example: hyfreedp export values quick --out out > values.csv\n"
    "         hyfreedp export values quick --format jsonl --out out > values.jsonl\n\n";

constexpr const char* kRowsUsage =
    "hyfreedp export rows NAME [options]\n"
    "One line of canonical JSON a study: the row, the metrics of its reported run, the hash of that run's "
    "last step.\n"
    "Example: hyfreedp export rows quick --out out > rows.jsonl\n\n";

constexpr const char* kEventsUsage =
    "hyfreedp export events ID [options]\n"
    "The events that a trial executed, charged for crashes too, as `hyfreedp epsilon --events` reads them.\n"
    "Example: hyfreedp export events 0f3a52b1c4d5e6f7 --out out > events.json\n\n";

int export_rows_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  SpecRequest request;
  bool times = false;
  options::options_description further;
  further.add_options()("times", options::bool_switch(&times),
                        "with seconds, memory, attempts and machine, which differ between equal runs");
  if (const auto code = parse_spec_request("export rows", kRowsUsage, further, arguments, request, out, err))
    return *code;
  const auto store = open_for_reading("export rows", request, err);
  if (!store) return refused("export rows", store.error(), err);
  const auto rows =
      results::export_rows(**store, request.spec, {.times = times, .confidential = request.confidential});
  if (!rows) return refused("export rows", rows.error(), err);
  out << *rows;
  return 0;
}

int export_values_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  SpecRequest request;
  bool steps = false;
  std::string format;
  options::options_description further;
  further.add_options()("steps", options::bool_switch(&steps),
                        "also what each step released: step sizes and, of private runs, noised losses")(
      "format", options::value(&format)->default_value("csv")->value_name("FORMAT"),
      "csv, or jsonl: a JSON object a line, null where CSV has no step or no epsilon");
  if (const auto code =
          parse_spec_request("export values", kValuesUsage, further, arguments, request, out, err))
    return *code;
  const auto known = enum_from<results::ValueFormat>(format, "--format");
  if (!known) return refused("export values", known.error(), err);
  const auto store = open_for_reading("export values", request, err);
  if (!store) return refused("export values", store.error(), err);
  const auto values = results::export_values(
      **store, request.spec, {.format = *known, .steps = steps, .confidential = request.confidential});
  if (!values) return refused("export values", values.error(), err);
  out << *values;
  return 0;
}

int export_events_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  std::string trial, folder;
  bool confidential = false;
  CommandLine line{.command = "export events", .usage = kEventsUsage, .positional = "id"};
  auto add = line.options.add_options();
  add("help,h", "this text");
  add("trial", options::value(&trial)->value_name("ID"), "the trial's id, as without an option");
  add("out", options::value(&folder)->default_value("out")->value_name("DIR"),
      "output folder of `hyfreedp run`");
  add("confidential", options::bool_switch(&confidential), "also a losing run of a private selection");
  options::variables_map given;
  if (const auto code = read_command_line(line, arguments, given, out, err)) return *code;
  if (given.count("id") > 0) {
    if (!trial.empty())
      return refused("export events", error("give one trial, with --trial or without."), err);
    trial = given["id"].as<std::string>();
  }
  if (trial.empty()) {
    return refused("export events", error("name a trial; hyfreedp trace SPEC ROW COLUMN lists their ids."),
                   err);
  }
  const auto store = open_for_reading(folder);
  if (!store) return refused("export events", store.error(), err);
  const auto events = results::export_events(**store, trial, confidential);
  if (!events) return refused("export events", events.error(), err);
  if (confidential) err << results::kWatermark << '\n';  // the file's format has no place for it
  out << pretty_json(*events);
  return 0;
}

}  // namespace

int export_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  static const std::vector<Part> kParts = {
      {"events", export_events_command}, {"rows", export_rows_command}, {"values", export_values_command}};
  return run_part("export", kUsage, kParts, arguments, out, err);
}

}  // namespace hyfreedp::cli
