// Finds a spec, and a cell of its table, by names that a person types. Errors list the valid names
// and the nearest one.
#pragma once

#include <string>
#include <vector>

#include "results/store/store.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {

Result<SpecRecord> find_spec(const Store& store, const std::string& name);

struct CellRequest {
  std::string panel;   // id; empty: the first panel that has the cell
  std::string row;     // id, or title
  std::string column;  // epsilon as text; "inf" or "non-private" for the arm without privacy
};

// The place of the cell in the table.
struct CellPlace {
  const PanelModel* panel = nullptr;
  const RowModel* row = nullptr;
  const CellModel* cell = nullptr;
  std::vector<std::string> other_panels;  // ids of those that have the cell too
};

// Finds a cell that the spec plans, whatever its state.
Result<CellPlace> find_cell(const TableModel& table, const CellRequest& request);

// The table of a spec in which a cell is searched: as printed, but with the rows of a group one by
// one, because a cell's runs belong to one row.
Result<TableModel> table_of_rows(const Store& store, const std::string& spec, bool confidential = false);

// The column's name as it is typed: "3", "0.5", "inf".
std::string column_name(const std::optional<double>& epsilon);

}  // namespace hyfreedp::results
