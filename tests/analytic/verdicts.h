// An item with the paper's values of this repository, and which of its cells do not reproduce.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

#include "harness/analytic/analytic.h"
#include "harness/base/text.h"

namespace hyfreedp::analytic {

inline json::value values_of(const std::string& paper) {
  return read_json_file(HYFREEDP_SOURCE_DIR "/experiments/papers/" + paper + "/values.json").value();
}

inline Analytic computed(const std::string& name, const json::object& options) {
  const auto* item = find(name);
  EXPECT_NE(item, nullptr) << name;
  const auto done =
      compute(name, options, item->paper.empty() ? json::value() : values_of(item->paper), "test");
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return done ? *done : Analytic{};
}

// With the default options, once for all tests.
inline const Analytic& computed(const std::string& name) {
  static std::map<std::string, Analytic> done;
  const auto found = done.find(name);
  return found != done.end() ? found->second : done.emplace(name, computed(name, {})).first->second;
}

inline std::string cell_name(const results::ValueTable& table, const results::ValueRow& row, std::size_t at) {
  return join(row.labels, ", ") + ": " + table.columns.at(at);
}

// Cells with a verdict, by verdict, in the table's order.
inline std::vector<std::string> cells_with(const results::ValueTable& table, bool in_band) {
  std::vector<std::string> names;
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i].in_band() == in_band) names.push_back(cell_name(table, row, i));
    }
  }
  return names;
}

inline const results::ValueCell& cell_at(const results::ValueTable& table,
                                         const std::vector<std::string>& row, const std::string& column) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), column) - table.columns.begin();
  for (const auto& candidate : table.rows) {
    if (candidate.labels == row) return candidate.cells.at(static_cast<std::size_t>(at));
  }
  throw std::out_of_range(join(row, ", ") + ": " + column);
}

// Every row has a cell a column and every footnote's number exists; what a table must have to be
// printed.
inline void expect_well_formed(const Analytic& done) {
  EXPECT_FALSE(done.table.name.empty() || done.table.title.empty() || done.table.description.empty());
  for (const auto& row : done.table.rows) {
    EXPECT_EQ(row.labels.size(), done.table.row_fields.size());
    EXPECT_EQ(row.cells.size(), done.table.columns.size()) << join(row.labels, ", ");
    for (const auto& cell : row.cells) {
      for (const int note : cell.notes) {
        EXPECT_GE(note, 1);
        EXPECT_LE(note, static_cast<int>(done.table.footnotes.size()));
      }
    }
  }
  for (const auto& figure : done.figures) {
    EXPECT_FALSE(figure.name.empty() || figure.title.empty() || figure.caption.empty());
    for (const auto& panel : figure.panels) {
      EXPECT_FALSE(panel.x_label.empty() || panel.y_label.empty() || panel.curves.empty()) << figure.name;
      for (const auto& curve : panel.curves) EXPECT_FALSE(curve.points.empty()) << curve.title;
    }
  }
}

}  // namespace hyfreedp::analytic
