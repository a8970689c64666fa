// A cell of a table as one file that can be checked without the database
// (results/provenance/cell_file.h).
#pragma once

#include <string>

#include "results/store/store.h"
#include "results/table/cell_place.h"

namespace hyfreedp::runner {

// Sealed. An error where the cell has no value or a seed of it is not finished.
Result<json::object> export_cell(const results::Store& store, const std::string& spec,
                                 const results::CellRequest& request);

}  // namespace hyfreedp::runner
