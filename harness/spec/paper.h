// The values of a paper, as experiments/papers/*/values.json has them: tables and figures of cells,
// each with the labels of its row and columns and what is printed there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/describe.h"
#include "harness/spec/spec.h"

namespace hyfreedp::spec {

struct PaperCell {
  json::array row, columns;  // labels: texts or numbers
  json::value value;         // a number; a text where the paper prints none; null: empty
  std::optional<double> sd;
  std::string unit;
  json::object printed;  // all that the file says of it but its labels

  static constexpr bool kMayLack = true;
  static Result<PaperCell> from_json(const json::value& value, const std::string& where);
  std::optional<double> number() const;  // the value, where it is one
};
BOOST_DESCRIBE_STRUCT(PaperCell, (), (row, columns, value, sd, unit))

struct PaperTable {
  std::string id;  // "2"
  json::array row_fields;
  std::string note;
  std::vector<PaperCell> cells;  // none: a figure without printed numbers
  json::object whole;            // all that the file says of it

  static constexpr bool kMayLack = true;
  static Result<PaperTable> from_json(const json::value& value, const std::string& where);
};
BOOST_DESCRIBE_STRUCT(PaperTable, (), (id, row_fields, note, cells))

struct PaperFile {
  std::vector<PaperTable> tables, figures;
  static constexpr bool kMayLack = true;
};
BOOST_DESCRIBE_STRUCT(PaperFile, (), (tables, figures))

// Labels as texts.
std::vector<std::string> labels_of(const json::array& labels);
// The printed values beside a row (Row::paper, or one of Row::paper_ood_test), by the target
// epsilon; cells without a number are left out.
std::map<std::optional<double>, PaperCell> printed_cells(const std::map<std::string, json::object>& paper);

}  // namespace hyfreedp::spec
