#include "harness/cli/common/spec_request.h"
#include "results/provenance/export.h"
#include "results/table/table_model.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
hyfreedp export events ID [--out DIR]           a trial's executed events, for `hyfreedp epsilon
    --events FILE`
hyfreedp export rows NAME [--times] [--out DIR] one line of canonical JSON a study, the same bytes
    for the same spec
hyfreedp export values NAME [--steps] [--format csv|jsonl] [--out DIR]  every seed's values in long
    form, one number a line
Example: hyfreedp export events 0f3a52b1c4d5e6f7 --out out > events.json
         hyfreedp export rows quick --out out > rows.jsonl
         hyfreedp export values quick --out out > values.csv)";

constexpr std::string_view kValuesText = R"(
Every seed's values in long form (spec, panel, row, epsilon, seed, step, metric, value), one number
a line: test accuracy and loss of the reported runs at each evaluation, and the epsilon that was
spent. As CSV for pandas, R, a spreadsheet, or as JSON Lines. The database's views have the same for
SQL (results/VIEWS.md).
Example: hyfreedp export values quick --out out > values.csv
         hyfreedp export values quick --format jsonl --out out > values.jsonl)";

constexpr std::string_view kRowsText = R"(
One line of canonical JSON a study: the row, the metrics of its reported run, the hash of that run's
last step.
Example: hyfreedp export rows quick --out out > rows.jsonl)";

constexpr std::string_view kEventsText = R"(
The events that a trial executed, charged for crashes too, as `hyfreedp epsilon --events` reads
them.
Example: hyfreedp export events 0f3a52b1c4d5e6f7 --out out > events.json)";

struct RowsRequest : SpecRequest {
  bool times = false;

  void describe(Options& options) {
    SpecRequest::describe(options, "NAME");
    options.flag(times, "times",
                 "with seconds, memory, attempts and machine, which differ between equal runs");
  }
};

Outcome export_rows(const RowsRequest& request, std::ostream& out, std::ostream& err) {
  const auto store = open_for_reading("export rows", request, err);
  if (!store) return store.error();
  const auto rows = results::export_rows(**store, request.spec,
                                         {.times = request.times, .confidential = request.confidential});
  if (!rows) return rows.error();
  out << *rows;
  return 0;
}

struct ValuesRequest : SpecRequest {
  bool steps = false;
  std::string format = "csv";

  void describe(Options& options) {
    SpecRequest::describe(options, "NAME");
    options.flag(steps, "steps",
                 "also what each step released: step sizes and, of private runs, noised losses");
    options.value(format, "format", "FORMAT",
                  "csv, or jsonl: a JSON object a line, null where CSV has no step or no epsilon");
  }
};

Outcome export_values(const ValuesRequest& request, std::ostream& out, std::ostream& err) {
  const auto known = enum_from<results::ValueFormat>(request.format, "--format");
  if (!known) return known.error();
  const auto store = open_for_reading("export values", request, err);
  if (!store) return store.error();
  const auto values = results::export_values(
      **store, request.spec,
      {.format = *known, .steps = request.steps, .confidential = request.confidential});
  if (!values) return values.error();
  out << *values;
  return 0;
}

struct EventsRequest {
  std::optional<std::string> id;
  std::string trial;
  std::string out = "out";
  bool confidential = false;

  void describe(Options& options) {
    options.positional(id, "id", "ID");
    options.value(trial, "trial", "ID", "the trial's id, as without an option");
    describe_out(options, out);
    options.flag(confidential, "confidential", "also a losing run of a private selection");
  }
};

Outcome export_events(const EventsRequest& request, std::ostream& out, std::ostream& err) {
  if (request.id && !request.trial.empty()) return error("give one trial, with --trial or without.");
  const auto trial = request.id.value_or(request.trial);
  if (trial.empty()) return error("name a trial; hyfreedp trace SPEC ROW COLUMN lists their ids.");
  const auto store = open_for_reading(request.out);
  if (!store) return store.error();
  const auto events = results::export_events(**store, trial, request.confidential);
  if (!events) return events.error();
  // The file's format has no place for it.
  if (request.confidential) err << results::kWatermark << '\n';
  out << pretty_json(*events);
  return 0;
}

}  // namespace

Command export_command() {
  return {"export",
          kText,
          {},
          "a spec's values as CSV, its rows as JSON, a run's events",
          "hyfreedp export values quick",
          {{"export events", kEventsText, action<EventsRequest>(export_events)},
           {"export rows", kRowsText, action<RowsRequest>(export_rows)},
           {"export values", kValuesText, action<ValuesRequest>(export_values)}}};
}

}  // namespace hyfreedp::cli
