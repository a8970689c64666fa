// A table of numbers, or of texts, with a class for each row, as the readers of text files give it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct NumberTable {
  std::vector<float> features;       // [n, p]
  std::vector<std::int64_t> labels;  // [n], 0 to k - 1
  std::vector<std::string> columns;  // [p], names of the features; none in formats without names
  // A table of texts has no features: [n] each, `seconds` where a row is a pair.
  std::vector<std::string> texts, seconds;
};

// The n rows of a CSV file (csv.h) with a header. The column `label` is the class: c where its
// field is labels[c]. All other columns are features, in the file's order, decimal numbers. Errors
// begin with FILE:LINE, a line for each record that is wrong: no such column, or twice (it names
// the separator that would give it); a label that is not among `labels`; a field that is not a
// finite number as a float; no rows; more than 2^28 numbers (1 GiB).
Result<NumberTable> read_number_csv(const std::string& path, char separator, const std::string& label,
                                    const std::vector<std::string>& labels);

// The same of a table whose rows are texts; other columns are not read. In JSON lines
// (json_lines.h) the columns are members of each object: texts are strings, and a label is a
// string, a number or a truth value. If `label` is empty, no column is the class, each row's is 0,
// and a `text` that is blank is an error.
struct TextColumns {
  std::string text;
  std::string second;                    // empty: rows are no pairs
  const char* second_option = "second";  // the option that names it
};
Result<NumberTable> read_text_csv(const std::string& path, char separator, const TextColumns& columns,
                                  const std::string& label, const std::vector<std::string>& labels);
Result<NumberTable> read_text_json_lines(const std::string& path, const TextColumns& columns,
                                         const std::string& label, const std::vector<std::string>& labels);
// The lines of a file (lines.h) as such rows without a class. Errors: text that is not UTF-8, no
// line that has a text, and unless `blank_too` each line that has none.
Result<NumberTable> read_text_lines(const std::string& path, bool blank_too);

// The number that all of a text is, in decimal notation, with or without a sign; none where it is
// not finite.
std::optional<double> double_of(std::string_view text);
// The same of a field, as a feature is read; none where it is beyond float32.
std::optional<float> number_of(std::string_view field);

// True if a text has nothing but blanks of ASCII.
bool is_blank(std::string_view text);

}  // namespace hyfreedp::datasets
