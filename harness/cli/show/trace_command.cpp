#include "harness/cli/common/cell_request.h"
#include "harness/cli/common/spec_request.h"
#include "harness/cli/show/commands.h"
#include "results/provenance/trace.h"

namespace hyfreedp::cli {
namespace {

namespace options = boost::program_options;

constexpr const char* kUsage =
    "hyfreedp trace SPEC ROW COLUMN [options]\n"
    "What is behind a cell: of each seed the study, the reported run and all runs that it asked for, what "
    "differs\n"
    "between their configs, program and machine, the executed events, and epsilon of training, tuning and in "
    "all.\n"
    "COLUMN is an epsilon of the table, or inf. Of a private selection only the reported run is shown.\n"
    "Example: hyfreedp trace quick nondp-gs 3 --out out\n\n";

}  // namespace

int trace_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CellCommand request;
  bool json = false, confidential = false;
  options::options_description further;
  auto add = further.add_options();
  add("json", options::bool_switch(&json), "print a JSON object");
  add("confidential", options::bool_switch(&confidential),
      "show values that were not released under differential privacy, losing runs of a private selection "
      "included; the output says so");
  if (const auto code = parse_cell_command("trace", kUsage, further, arguments, request, out, err))
    return *code;
  const auto store = open_for_reading(request.out);
  if (!store) return refused("trace", store.error(), err);
  const auto trace = results::trace_cell(**store, request.spec, request.cell, confidential);
  if (!trace) return refused("trace", trace.error(), err);
  if (json) {
    out << pretty_json(results::trace_json(*trace));
  } else {
    out << results::trace_text(*trace);
  }
  return 0;
}

}  // namespace hyfreedp::cli
