// The part of a spec that refers to a paper: which table or figure it reproduces, and the printed
// cells beside its rows.
//
//   reproduces: {paper: hyfreedp, id: table 2}   # values.json beside the spec has its tables
//   panels:
//     - paper: {row: [full, "{epsilon}", "{row}"], columns: [ViT-Small, CIFAR10]}
//       rows: [{method: nondp-gs, paper: NonDP-GS}]   # replaces {row}; true if there is no {row}
//
// `paper` of a panel may also have `table: 7`, or a list of tables.
//
// {epsilon} is 1, 3, 8 or inf. A row may give its place itself: paper:
// {row: [...], columns: [...]}. A row without `paper`, or in a panel without it, has no printed
// cells. A label that the table does not have is an error that names the nearest one; an epsilon
// that the table does not have for a row is not an error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/runner/spec/spec_entry.h"
#include "harness/spec/paper.h"

namespace hyfreedp::runner {

// The values.json of a paper, and the part of it that the spec is about.
class PaperValues {
 public:
  // `reproduces` of a spec, with values.json beside the file that says it; nothing where it is
  // wrong.
  static std::optional<PaperValues> read(const Entry& reproduces, Problems& problems);

  const spec::Reproduces& reproduces() const { return reproduces_; }
  // The table that is reproduced, or the figure if its numbers are printed; null if they are not.
  const spec::PaperTable* table() const { return table_; }
  Result<const spec::PaperTable*> find_table(const std::string& id, const Entry& place) const;

  PaperValues(PaperValues&&) = default;
  PaperValues& operator=(PaperValues&&) = default;

 private:
  PaperValues() = default;

  spec::Reproduces reproduces_;
  spec::PaperFile values_;
  const spec::PaperTable* table_ = nullptr;  // of values_, which keeps its place where it is moved
};

// The `paper` of a panel.
struct PaperPlace {
  std::vector<const spec::PaperTable*> tables;  // with cells
  std::vector<std::string> row;
  std::vector<std::string> columns;
};

std::optional<PaperPlace> read_paper_place(const Entry& place, const PaperValues& values, Problems& problems);
// A row's printed cells by epsilon (spec::Row::paper); nothing where it is wrong.
std::optional<std::map<std::string, json::object>> paper_cells(const Entry& row_paper,
                                                               const PaperPlace& panel,
                                                               const std::vector<double>& epsilons,
                                                               Problems& problems);

}  // namespace hyfreedp::runner
