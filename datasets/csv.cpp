#include "datasets/csv.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

class Reader {
 public:
  Reader(std::string path, std::string_view text) : path_(std::move(path)), text_(text) {}

  bool at_end() const { return at_ == text_.size(); }

  Result<CsvRecord> next() {
    CsvRecord record{.fields = {}, .line = line_};
    for (bool more = true; more;) {
      auto field = at('"') ? quoted() : plain();
      if (!field) return field.error();
      record.fields.push_back(std::move(*field));
      more = at(',');
      if (more) ++at_;
    }
    if (at('\r')) ++at_;
    if (at_end()) return record;
    if (!at('\n')) return wrong("text behind a closing quote");
    ++at_;
    ++line_;
    return record;
  }

 private:
  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }

  Error wrong(const std::string& what) const { return error(fmt::format("{}:{}: {}.", path_, line_, what)); }

  Result<std::string> plain() {
    const auto end = std::min(text_.find_first_of("\",\n", at_), text_.size());
    if (end < text_.size() && text_[end] == '"')
      return wrong("a quote inside a field that does not begin with one");
    std::string field(text_.substr(at_, end - at_));
    at_ = end;
    if ((at_end() || at('\n')) && field.ends_with('\r')) field.pop_back();
    return field;
  }

  Result<std::string> quoted() {
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

  std::string path_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Result<std::vector<CsvRecord>> read_csv(const std::string& path, const std::vector<std::string>& header) {
  const auto text = read_file(path);
  if (!text) return text.error();
  Reader reader(path, *text);
  const auto first = reader.next();
  if (!first) return first.error();
  if (first->fields != header) return error(path + ":1: the first line must be " + join(header, ",") + ".");
  std::vector<CsvRecord> records;
  while (!reader.at_end()) {
    auto record = reader.next();
    if (!record) return record.error();
    if (record->fields.size() != header.size()) {
      return error(fmt::format("{}:{}: the record has {} fields, but {} are expected.", path, record->line,
                               record->fields.size(), header.size()));
    }
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace hyfreedp::datasets
