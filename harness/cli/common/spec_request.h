// Requests that several commands share: a spec's name or file, the output folder, and whether
// confidential values are wanted; a cell of its table.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/cli/common/command.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"
#include "results/table/cell_place.h"

namespace hyfreedp::cli {

// SPEC.yaml, and not the name of a spec.
bool is_file_of_spec(const std::string& spec);
// The name of the spec that `spec` names: a name as it is, or its file (with `preset`).
Result<std::string> name_of_spec(const std::string& spec, const std::string& preset);

// --preset and --out, of every command that takes a recorded spec or its file.
void describe_preset(Options& options, std::string& preset);
void describe_out(Options& options, std::string& out);
// --set, of commands that take a spec's file.
void describe_set(Options& options, std::vector<std::string>& settings);

// The options that table, plot, export and replay share; the report of several specs has the
// options alone.
struct SpecRequest {
  std::string spec;  // its name in the database
  std::string preset;
  std::vector<std::string> settings;  // of --set
  // The spec in the file, as `preset` and `settings` make it. Absent unless a file was named, or a
  // spec that trains nothing.
  std::optional<runner::Spec> file = {};
  std::string out = "out";
  bool confidential = false;

  std::string folder() const { return out + "/" + spec; }
  // `shown`: how the usage line calls the spec.
  void describe(Options& options, const std::string& shown);
  void describe_options(Options& options);
  // Sets `spec` and `file`. A spec is named by its name, or by its file. One that trains nothing is
  // in no database: by its name its file is found where `hyfreedp run` left its tables
  // (value_spec_by_name).
  Checked check();
};

// The options that trace and export-cell share: SPEC ROW COLUMN.
struct CellRequest {
  std::string spec;
  std::string out = "out";
  results::CellRequest cell;

  void describe(Options& options);
  // `command`: its name, for the errors.
  Checked check(const std::string& command) const;
};

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
