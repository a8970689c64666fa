// The table in long form: one record a (panel, row, epsilon), every field. RFC 4180: CRLF, fields
// with a comma, quote or line break are quoted.
#pragma once

#include <string>
#include <vector>

#include "results/table_model.h"
#include "results/value_table.h"

namespace hyfreedp::results {

std::string csv_table(const TableModel& table);
// One record for each cell: the row's labels, the column, our value, the paper's, the difference
// (ours less the paper's), and the verdict.
std::string csv_values(const ValueTable& table);

// The shortest decimal that agrees with `value` in 15 significant digits, which is what a double
// holds of any decimal: 100 * 0.8535 is "85.35", not "85.35000000000001". "inf" and "nan" as they
// are. An epsilon or a delta is an upper bound and is written in full instead, so that it is not
// rounded down.
std::string csv_number(double value);

std::string csv_record(const std::vector<std::string>& fields);

}  // namespace hyfreedp::results
