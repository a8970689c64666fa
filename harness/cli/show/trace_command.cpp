#include "harness/cli/common/spec_request.h"
#include "results/provenance/trace.h"

namespace hyfreedp::cli {
namespace {

constexpr std::string_view kText = R"(
What is behind a cell: of each seed the study, the reported run and all runs that it asked for, what
differs between their configs, program and machine, the executed events, and epsilon of training,
tuning and in all. COLUMN is an epsilon of the table, or inf. Of a private selection only the
reported run is shown.
Example: hyfreedp trace quick nondp-gs 3 --out out)";

struct TraceRequest : CellRequest {
  bool json = false, confidential = false;

  void describe(Options& options) {
    CellRequest::describe(options);
    options.flag(json, "json", "print a JSON object");
    options.flag(confidential, "confidential",
                 "show values that were not released under differential privacy, losing runs of a private "
                 "selection included; the output says so");
  }
  Checked check() const { return CellRequest::check("trace"); }
};

Outcome trace(const TraceRequest& request, std::ostream& out, std::ostream&) {
  const auto store = open_for_reading(request.out);
  if (!store) return store.error();
  const auto found = results::trace_cell(**store, request.spec, request.cell, request.confidential);
  if (!found) return found.error();
  out << (request.json ? pretty_json(results::trace_json(*found)) : results::trace_text(*found));
  return 0;
}

}  // namespace

Command trace_command() {
  return {"trace", kText, action<TraceRequest>(trace),
          "the runs, configs, events and epsilons behind a cell of a table",
          "hyfreedp trace quick nondp-gs 3"};
}

}  // namespace hyfreedp::cli
