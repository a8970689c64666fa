// Comma-separated values with quotes (RFC 4180): a field that begins with a quote ends at the next
// quote that is not doubled, and may contain commas, line ends and doubled quotes. Lines end with
// \n or \r\n; the last line may lack its end.
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

// The records after the first line, which must be `header`. Errors, with their line: another
// header, a record with another number of fields, a quote that is not closed, a quote inside a
// field, text after a closing quote.
Result<std::vector<CsvRecord>> read_csv(const std::string& path, const std::vector<std::string>& header);

}  // namespace hyfreedp::datasets
