// One cell of a table as one small file, from which its metric and its epsilon can be derived again
// without the database (`hyfreedp export-cell` and `hyfreedp verify`).
//
//   {"format": "hyfreedp-cell", "format_version": 1, "program", "ran_by", "comparability",
//    "spec": {"name", "title", "hash"},
//    "panel": as resolved, without rows,
//    "row": as resolved,
//    "column": 3 | "inf",
//    "metric": {"name": "accuracy" | "loss" | ... (harness/spec/table.h), "split": "test", "unit",
//               "checkpoints"},
//    "neighbouring": "add-remove", "delta",
//    "cell": {"mean", "sd" | null, "n", "epsilon" | null, "epsilon_least" | null},
//    "seeds": [{"seed", "study", "state", "failure", "label", "flags", "footnotes",
//               "claimed_epsilon", and if the seed has a value:
//               "trial", "config", "fingerprint", "value" in the metric's unit,
//               "test": [[step, fraction or loss], ...],
//               "composition": as a study has it, without what is confidential,
//               "events": all that the row's epsilon pays for, composed, equal ones folded,
//               "training_events": those of the reported run,
//               "total", "training": epsilon records or null}],
//    "checksum": SHA-256 of the canonical JSON without this member}
// "checkpoints" is the number of last evaluations that are averaged.
//
// A private selection's `events` are the selection itself: the law of its number of runs and the
// events of one run. How many runs there were is not in the file, nor is any losing one.
//
// Seeds, column, labels, flags and claimed epsilon are checked against row, configs and events
// (cell_claims.h).
//
// A file cannot prove that these events were executed, that the runs had these accuracies, or that
// the spec of this hash asked for this panel and row. Whoever changes one of them consistently
// throughout the file, checksum included, gets a file without contradictions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace hyfreedp::results {

inline constexpr const char* kCellFormat = "hyfreedp-cell";
inline constexpr std::int64_t kCellFormatVersion = 1;

// Sets the member "checksum".
void seal_cell(json::object& cell);

struct CellCheck {
  std::string what;     // "seed 0: epsilon"
  std::string claimed;  // by the file
  std::string derived;  // from the file's values and events
  bool agrees = false;
};

struct CellVerification {
  std::string title;  // "quick / linear / prodigy / 3"
  std::vector<CellCheck> checks;
  bool agrees() const;
};

// Derives and compares all numbers. An error if the file has another format, or if a member is
// missing or has another type.
Result<CellVerification> verify_cell(const json::value& file);
// The same from the file's text, which must also be exactly what the program would write, apart
// from white space: two neighbouring decimals of 17 digits can read as the same number, so a
// changed last digit shows in the text alone.
Result<CellVerification> verify_cell_text(const std::string& text, const std::string& where);

// The result as text: each recomputed number beside the one in the file, and what no file can
// prove.
std::string verification_text(const CellVerification& verification);
json::object verification_json(const CellVerification& verification);

}  // namespace hyfreedp::results
