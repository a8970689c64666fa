// The table in long form: one record a (panel, row, epsilon), every field, numbers in full (shortest text
// that reads back to the same double). RFC 4180: CRLF, fields with a comma, quote or line break are quoted.
#pragma once

#include <string>
#include <vector>

#include "results/table_model.h"
#include "results/value_table.h"

namespace hyfreedp::results {

std::string csv_table(const TableModel& table);
// One record a cell: the row's labels, the column, our value, the paper's, the difference (ours less the paper's), the verdict.
std::string csv_values(const ValueTable& table);

std::string csv_record(const std::vector<std::string>& fields);

}  // namespace hyfreedp::results
