// Writes tables as CSV in long form: one record for each cell, with every field. The format is RFC
// 4180: records end with CRLF, and fields that contain a comma, a quote or a line break are quoted.
#pragma once

#include <string>
#include <vector>

#include "results/table/table_model.h"
#include "results/table/value_table.h"

namespace hyfreedp::results {

// A comparison: a header, then one record for each (panel, row, epsilon).
std::string csv_table(const TableModel& table);
// A table of plain values: a header, then one record for each cell, with the row's labels, the
// column, our value, the paper's value and sd, the difference (ours minus the paper's), the
// tolerance, whether the difference is within it, text, unit and notes.
std::string csv_values(const ValueTable& table);

// `value` with at most 15 significant digits, which a double keeps of any decimal number:
// 100 * 0.8535 is "85.35", not "85.35000000000001". Infinity and NaN are "inf" and "nan". Epsilon
// and delta are upper bounds; csv_table() writes them with all digits instead, so that they are not
// rounded down.
std::string csv_number(double value);

// The fields as one record: quoted where necessary, joined by commas, with CRLF at the end.
std::string csv_record(const std::vector<std::string>& fields);

}  // namespace hyfreedp::results
