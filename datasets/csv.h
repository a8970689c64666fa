// Comma-separated values, quoted where needed (RFC 4180): a field that begins with a quote ends at the next quote that is not
// doubled, and may hold commas, line ends and doubled quotes. Lines end with \n or \r\n; the last one may lack its end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct CsvRecord {
  std::vector<std::string> fields;
  std::size_t line = 0;  // in the file, from 1, where the record begins
};

// The records after the first line, which must be `header`. Errors name the line: another header, a record with another number of
// fields, a quote that is not closed, a quote inside a field, text behind a closing quote.
Result<std::vector<CsvRecord>> read_csv(const std::string& path, const std::vector<std::string>& header);

}  // namespace hyfreedp::datasets
