// Comma-separated values with quotes (RFC 4180): a field that begins with a quote ends at the next
// quote that is not doubled, and may contain commas, line ends and doubled quotes. Lines end with
// \n or \r\n; the last line may lack its end. Another character may stand for the comma, such as a
// tab. A byte order mark of UTF-8 before the text is no part of it. Text that is not UTF-8 is
// refused, with the command that converts it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace hyfreedp::datasets {

struct CsvRecord {
  std::vector<std::string> fields;
  std::size_t line = 0;  // in the file, from 1, where the record begins
};

// The records of a file one by one; the text is in memory meanwhile.
class CsvReader {
 public:
  static Result<CsvReader> open(const std::string& path, char separator = ',');

  // The first line.
  const std::vector<std::string>& header() const { return header_; }
  // The next record; nothing at the file's end. Errors, with their line: a record with another
  // number of fields than the header, a quote that is not closed, a quote inside a field, text
  // after a closing quote. After an error of the first kind the next record follows, after others
  // nothing does.
  Result<std::optional<CsvRecord>> next();

 private:
  CsvReader(std::string path, std::string text, char separator)
      : path_(std::move(path)), text_(std::move(text)), separator_(separator) {}

  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  Error wrong(const std::string& what) const;
  Result<CsvRecord> record();
  Result<std::string> plain();
  Result<std::string> quoted();

  std::string path_;
  std::string text_;
  char separator_;
  std::vector<std::string> header_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // after it are line ends alone
  std::size_t line_ = 1;
};

// The separator's name in messages: "';'", "a tab".
std::string name_of_separator(char separator);

// All records after the first line, which must be `header`.
Result<std::vector<CsvRecord>> read_csv(const std::string& path, const std::vector<std::string>& header);

}  // namespace hyfreedp::datasets
