// Rows whose results other code trained than this program's.
//
// A finished row is not trained again, so after a method, an optimizer or the engine was changed
// its numbers are those of the code before. These functions say of which rows that is so, and by
// which part of the code (harness/trial/code_marks.h). Rows of versions that recorded no code are
// of changed code where another worker program trained them.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/spec/spec.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

struct OtherCodeRow {
  std::string panel, row;
  std::vector<std::string> parts;  // "the optimizer adamw", each once
};

// Returns the rows of `spec` that have answers and that other code trained, in the order of panel
// and row. `worker`: the hash of the worker program at hand (trial::program_hash); empty: a run
// without recorded code is passed over. Empty if this program's code is not known.
Result<std::vector<OtherCodeRow>> rows_of_other_code(const results::Store& store, const std::string& spec,
                                                     const std::string& worker);

// "2 rows were trained by other code than this program's: a (the engine); b (...)": without a dot
// at its end. The panel is named where the list has several.
std::string other_code_text(const std::vector<OtherCodeRow>& rows);

// Says that the program `worker`, a hyfreedp-worker, was built from other sources than this
// program, so that what it trains would be called other code's at once, and what to do; without a
// dot at its end. Empty if that is not so, or not known.
std::string other_build_text(const std::string& worker);

// Tells the reader of a table of `spec` which rows are of other code, what their numbers are, and
// how they are trained anew. Empty if all are of this program's.
Result<std::string> other_code_note(const results::Store& store, const std::string& spec,
                                    const std::string& worker);

// The rows that `--retrain` names: "all", or the id of a row, in every panel that has it. Those
// that this program's code trained are not among them. An error names what is no row of the spec.
Result<std::set<std::pair<std::string, std::string>>> rows_to_retrain(
    const std::vector<OtherCodeRow>& changed, const std::vector<std::string>& asked, const spec::Spec& spec);

}  // namespace hyfreedp::runner
