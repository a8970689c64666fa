// A spec that trains nothing: the values that harness/analytic computes for it, or, if it cannot be
// run here, the paper's values alone.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/runner/spec/plan.h"
#include "results/table/curves.h"
#include "results/table/value_table.h"

namespace hyfreedp::cli {

struct ValueSpec {
  results::ValueTable table;
  std::vector<results::CurveFigure> figures;  // may be empty
};

// The paper's cells, with every row and column in the paper's order; for a figure,
// what the paper says of it.
Result<results::ValueTable> paper_values_alone(const spec::Spec& spec);
// The values of a spec that is not runnable (runner::is_runnable).
Result<ValueSpec> value_spec(const runner::Spec& spec);
// "cannot be run here: REASON Not here: data sets imagenet; ..." of a spec that is not runnable.
std::string not_runnable_text(const spec::NotRunnable& not_runnable);

// After `hyfreedp run FILE`, FOLDER/spec.json says which file and preset its tables came from, so
// that other commands find the spec by its name; it is loaded and computed anew. None where the
// folder has no such file; an error where the spec's file is gone.
Result<std::optional<runner::Spec>> value_spec_by_name(const std::string& folder);

// Says, for commands that need rows of the database, that this spec has none.
std::string no_rows_text(const std::string& name);

// FOLDER/table.{md,csv,tex,html}, FOLDER/spec.json and FOLDER/plots/NAME.{svg,png,gp}; says what
// was written. Without gnuplot the plots are left out with a word.
Result<void> write_value_spec(const ValueSpec& values, const runner::Spec& spec, const std::string& folder,
                              std::ostream& out);

}  // namespace hyfreedp::cli
