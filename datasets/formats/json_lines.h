// JSON lines (jsonlines.org), gzipped or plain: one JSON object a line, in UTF-8. Texts are
// published so, a record an object.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// Takes the wanted fields of one record, in the order in which they were asked for. `where` is
// "FILE:LINE", for errors; one that it returns ends the reading.
using VisitRecord =
    std::function<Result<void>(const std::string& where, std::span<const json::value> fields)>;

// Calls `visit` for each line's object, whose other fields are left out. One record is in memory at
// a time. Errors begin with FILE:LINE: an empty line, no JSON (NaN and broken UTF-8 are none),
// another value than an object, a field that is absent or given twice, a line of more than
// `max_line` bytes; and a file without records.
Result<void> visit_json_lines(const std::string& path, const std::vector<std::string>& fields,
                              const VisitRecord& visit, std::size_t max_line = std::size_t{1} << 22);

}  // namespace hyfreedp::datasets
