// Finds a spec, and a cell of its table, by the names that a person types; an error lists the valid ones and the nearest.
#pragma once

#include <string>
#include <vector>

#include "results/store.h"
#include "results/table_model.h"

namespace hyfreedp::results {

Result<SpecRecord> find_spec(const Store& store, const std::string& name);

struct CellRequest {
  std::string panel;   // id; empty: the first panel that has the cell
  std::string row;     // id, or title
  std::string column;  // epsilon as text; "inf" or "non-private" for the arm without privacy
};

// Points into the table.
struct CellPlace {
  const PanelModel* panel = nullptr;
  const RowModel* row = nullptr;
  const CellModel* cell = nullptr;
  std::vector<std::string> other_panels;  // ids of those that have the cell too
};

// A cell that the spec plans, whatever became of it.
Result<CellPlace> find_cell(const TableModel& table, const CellRequest& request);

// The table of a spec by whose rows a cell is found: as it is printed, but with the rows of a group one by one, since what is
// behind a cell are the runs of one row.
Result<TableModel> table_of_rows(const Store& store, const std::string& spec, bool confidential = false);

// "3", "0.5", "inf": as it is typed.
std::string column_name(const std::optional<double>& epsilon);

}  // namespace hyfreedp::results
