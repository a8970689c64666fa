// What of a spec stands in a paper: which table or figure it reproduces, and the printed cells beside its rows.
//
//   reproduces: {paper: hyfreedp, id: table 2}      # values.json beside the spec holds the paper's tables
//   panels:
//     - paper: {row: [full, "{epsilon}", "{row}"], columns: [ViT-Small, CIFAR10]}   # also table: 7, or a list of tables
//       rows: [{method: nondp-gs, paper: NonDP-GS}]      # fills {row}; true where there is no {row}
//
// {epsilon} is 1, 3, 8, inf. A row may name its place itself: paper: {row: [...], columns: [...]}. A row without `paper`, or in a panel without, has no
// printed cells. A label that the table does not have is an error that names the nearest; an epsilon that the table does not
// have for a row is not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/runner/spec_entry.h"

namespace hyfreedp::runner {

// values.json of a paper, and which part of it the spec is about.
class PaperValues {
 public:
  // `reproduces` of the spec at `spec_path`; nothing where it is wrong.
  static std::optional<PaperValues> read(const std::string& spec_path, const Entry& reproduces,
                                         Problems& problems);

  const json::object& reproduces() const { return reproduces_; }  // {"paper", "id"}
  // The table that is reproduced, or the figure where its numbers are printed; null where they are not.
  const json::object* table() const;
  Result<const json::object*> find_table(const std::string& id, const Entry& place) const;

 private:
  json::object reproduces_;
  json::object values_;
  std::string kind_;  // "tables", "figures"
  std::string id_;    // of the one that is reproduced
};

// A panel's `paper`.
struct PaperPlace {
  std::vector<const json::object*> tables;
  std::vector<std::string> row;
  std::vector<std::string> columns;
};

std::optional<PaperPlace> read_paper_place(const Entry& place, const PaperValues& values, Problems& problems);
// A row's printed cells by epsilon: {"1": {"value", "unit", further members of the cell}}; nothing where
// it is wrong.
std::optional<json::object> paper_cells(const Entry& row_paper, const PaperPlace& panel,
                                        const json::array& epsilons, Problems& problems);

}  // namespace hyfreedp::runner
