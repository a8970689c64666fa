#include "datasets/formats/csv.h"

#include <algorithm>
#include <fmt/format.h>

#include "datasets/formats/lines.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/base/text_encoding.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {

std::string name_of_separator(char separator) {
  return separator == '\t' ? "a tab" : fmt::format("'{}'", separator);
}

Result<CsvReader> CsvReader::open(const std::string& path, char separator) {
  auto text = read_file(path);
  if (!text) return text.error();
  const auto begin = begin_of_text(*text, path);
  if (!begin) return begin.error();
  if (const auto bad = first_byte_not_utf8(*text)) {
    const auto before = text->begin() + static_cast<std::ptrdiff_t>(*bad);
    return no_utf8(fmt::format("{}:{}", path, 1 + std::count(text->begin(), before, '\n')), *before);
  }
  CsvReader reader(path, std::move(*text), separator);
  reader.at_ = *begin;
  reader.end_ = reader.text_.find_last_not_of("\r\n") + 1;
  auto first = reader.record();
  if (!first) return first.error();
  reader.header_ = std::move(first->fields);
  return reader;
}

Result<std::optional<CsvRecord>> CsvReader::next() {
  // Blank lines at the end are no records, but where one empty field would be.
  if (header_.size() > 1 && at_ >= end_) at_ = text_.size();
  if (at_ == text_.size()) return std::optional<CsvRecord>();
  auto found = record();
  if (!found) {
    at_ = text_.size();  // where a field ends is not known any more
    return found.error();
  }
  if (found->fields.size() != header_.size()) {
    return error(fmt::format("{}:{}: the record has {}, but {} are expected.", path_, found->line,
                             counted(static_cast<std::int64_t>(found->fields.size()), "field"),
                             header_.size()));
  }
  return std::optional(std::move(*found));
}

Error CsvReader::wrong(const std::string& what) const {
  return error(fmt::format("{}:{}: {}.", path_, line_, what));
}

Result<CsvRecord> CsvReader::record() {
  CsvRecord record{.fields = {}, .line = line_};
  for (bool more = true; more;) {
    auto field = at('"') ? quoted() : plain();
    if (!field) return field.error();
    record.fields.push_back(std::move(*field));
    more = at(separator_);
    if (more) ++at_;
  }
  if (at('\r')) ++at_;
  if (at_ == text_.size()) return record;
  if (at(';') || at('\t') || at('|')) {
    return wrong(fmt::format("a closing quote is followed by {}, but fields are separated by {}",
                             name_of_separator(text_[at_]), name_of_separator(separator_)));
  }
  if (!at('\n')) return wrong("text behind a closing quote");
  ++at_;
  ++line_;
  return record;
}

Result<std::string> CsvReader::plain() {
  const char ends[] = {'"', '\n', separator_, '\0'};
  const auto end = std::min(text_.find_first_of(ends, at_), text_.size());
  if (end < text_.size() && text_[end] == '"')
    return wrong("a quote inside a field that does not begin with one");
  auto field = text_.substr(at_, end - at_);
  at_ = end;
  if ((at_ == text_.size() || at('\n')) && field.ends_with('\r')) field.pop_back();
  if (field.find('\r') != std::string::npos)
    return wrong("a carriage return alone ends no line here; `tr '\\r' '\\n'` makes line feeds of them");
  return field;
}

Result<std::string> CsvReader::quoted() {
  std::string field;
  const auto began = line_;
  for (++at_; at_ < text_.size(); ++at_) {
    if (at('"')) {
      ++at_;
      if (!at('"')) return field;
    }
    if (at('\n')) ++line_;
    field.push_back(text_[at_]);
  }
  line_ = began;
  return wrong("a quote is not closed");
}

Result<std::vector<CsvRecord>> read_csv(const std::string& path, const std::vector<std::string>& header) {
  auto reader = CsvReader::open(path);
  if (!reader) return reader.error();
  if (reader->header() != header)
    return error(path + ":1: the first line must be " + join(header, ",") + ".");
  std::vector<CsvRecord> records;
  while (true) {
    auto record = reader->next();
    if (!record) return record.error();
    if (!*record) return records;
    records.push_back(std::move(**record));
  }
}

}  // namespace hyfreedp::datasets
