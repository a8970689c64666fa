// The command line that table, plot, report and export rows share: a spec's name, the output
// folder, and whether confidential values are wanted.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/cli/common/command_line.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::cli {

struct SpecRequest {
  std::string spec;  // its name in the database
  // Where a file was named instead, or a spec that trains nothing: the spec in the file, as
  // `preset` and `settings` make it.
  std::string preset;
  std::vector<std::string> settings;  // of --set
  std::optional<runner::Spec> file;
  std::string out = "out";
  bool confidential = false;

  std::string folder() const { return out + "/" + spec; }
};

// The name of the spec that `spec` names: a name as it is, or its file (SPEC.yaml, with `preset`).
Result<std::string> name_of_spec(const std::string& spec, const std::string& preset);

// Adds --set, which fills `settings`: of commands that take a spec's file.
void add_set_option(boost::program_options::options_description& options, std::vector<std::string>& settings);
// Adds --help, --out, --confidential, --preset and --set, which the report of several specs has
// too.
void add_shared_options(boost::program_options::options_description& options, SpecRequest& request);

// A spec is named by its name, or by its file (SPEC.yaml, with --preset and --set). One that trains
// nothing is in no database: by its name its file is found where `hyfreedp run` left its tables
// (value_spec_by_name). Reads `arguments` against the shared options and `further` ones. Returns
// the exit code where nothing is left to do: 0 after --help (prints `usage` and the options), 2
// after an error.
std::optional<int> parse_spec_request(const std::string& command, const std::string& usage,
                                      const boost::program_options::options_description& further,
                                      const std::vector<std::string>& arguments, SpecRequest& request,
                                      std::ostream& out, std::ostream& err);

// Opens DIR/hyfreedp.sqlite for reading.
Result<std::unique_ptr<results::Store>> open_for_reading(const std::string& out_folder);
// The same for a command that shows what the database has of a spec: where a file was named, and
// the database has another version of it, says so with what differs, since the file's is not shown.
Result<std::unique_ptr<results::Store>> open_for_reading(const std::string& command,
                                                         const SpecRequest& request, std::ostream& err);
// Says the same of one file.
void warn_of_other_version(const std::string& command, const results::Store& store, runner::Spec file,
                           std::ostream& err);

}  // namespace hyfreedp::cli
