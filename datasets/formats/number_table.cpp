#include "datasets/formats/number_table.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "datasets/formats/csv.h"
#include "datasets/formats/json_lines.h"
#include "datasets/formats/lines.h"
#include "harness/base/error_list.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 28;

// The number that a field begins with, and whether it is all of the field.
struct Field {
  double value = 0;
  std::errc failure = {};
  bool is_whole = false;
};

Field read_field(std::string_view field) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  Field found;
  const auto* end = field.data() + field.size();
  const auto read = std::from_chars(field.data(), end, found.value);
  found.failure = read.ec;
  found.is_whole = read.ptr == end;
  return found;
}

Result<float> number_in(const std::string& column, const std::string& field) {
  if (const auto number = number_of(field)) return *number;
  const auto read = read_field(field);
  if (read.failure != std::errc::invalid_argument && read.is_whole && !std::isnan(read.value)) {
    return error(fmt::format("the column '{}' has '{}', which is beyond the numbers of float32.",
                             as_one_line(column), as_one_line(field.substr(0, 40))));
  }
  const bool comma = std::ranges::count(field, ',') == 1 && field.find('.') == std::string::npos;
  return error(
      fmt::format("the column '{}' has '{}', which is not a number. {}", as_one_line(column),
                  as_one_line(field.substr(0, 40)),
                  comma ? "Numbers are written with a point, as in 0.5."
                        : "Only numbers are read: replace names and missing values by numbers first."));
}

// " Its fields are separated by ';' ...", where the header has the label's column if another
// character separates it; else "".
std::string other_separator(const std::vector<std::string>& header, char separator,
                            const std::string& label) {
  if (header.size() != 1) return "";
  for (const char other : {';', '\t', ',', '|'}) {
    std::vector<std::string> columns;
    boost::split(columns, header.front(), [other](char c) { return c == other; });
    if (other == separator || std::ranges::find(columns, label) == columns.end()) continue;
    return fmt::format(" Its fields are separated by {}, not by {}: give the option `separator: \"{}\"`.",
                       name_of_separator(other), name_of_separator(separator),
                       other == '\t' ? "\\t" : std::string(1, other));
  }
  return "";
}

// The column that the option `option` names; `has`: what it has.
Result<std::size_t> place_of(const std::vector<std::string>& header, char separator,
                             const std::string& column, const char* option = "label",
                             const char* has = "classes") {
  const auto count = std::count(header.begin(), header.end(), column);
  if (count == 1) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), column) - header.begin());
  }
  const auto other = count == 0 ? other_separator(header, separator, column) : "";
  return error(fmt::format("{} column is called '{}'.{}", count == 0 ? "no" : "more than one", column,
                           !other.empty() ? other
                                          : fmt::format("{} The option '{}' names the one with the {}.",
                                                        did_you_mean(column, header), option, has)));
}

// Refuses columns that nobody named, since row numbers would be read as a feature, and equal names.
Result<void> check_names(const std::vector<std::string>& header) {
  constexpr const char* kOfPandas =
      "pandas' to_csv writes the numbers of the rows so, which are no feature: write the file with "
      "`index=False`";
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (boost::trim_copy(header[i]).empty()) {
      return error(
          fmt::format("the column {} has no name. {}, or give the column a name.", i + 1, kOfPandas));
    }
    if (header[i].starts_with("Unnamed: ")) {
      return error(fmt::format(
          "the column '{}' had no name when pandas read it. {}, and drop this column, or give it a name.",
          as_one_line(header[i]), kOfPandas));
    }
    if (std::find(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(i), header[i]) !=
        header.begin() + static_cast<std::ptrdiff_t>(i)) {
      return error(fmt::format("two columns are called '{}'. Give one of them another name, or take it out.",
                               as_one_line(header[i])));
    }
  }
  return {};
}

Result<void> check_not_blank(std::string_view text) {
  return is_blank(text) ? error("the text is empty. Take the record out.") : Result<void>();
}

Result<void> add_label(const std::string& field, const std::vector<std::string>& labels, NumberTable& table) {
  const auto found = std::find(labels.begin(), labels.end(), field);
  if (found == labels.end()) {
    return error(fmt::format("the label '{}' is none of the expected ones ({}).",
                             as_one_line(field.substr(0, 40)), join(labels, ", ")));
  }
  table.labels.push_back(found - labels.begin());
  return {};
}

Result<void> add_numbers(const CsvRecord& record, const std::vector<std::string>& header,
                         std::size_t label_at, NumberTable& table) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i == label_at) continue;
    const auto value = number_in(header[i], record.fields[i]);
    if (!value) return value.error();
    table.features.push_back(*value);
  }
  return {};
}

// Calls add(record) for each record and adds its label, or 0 where `label_at` is no column; what is
// wrong with any is in the error.
template <class Add>
Result<void> add_records(CsvReader& reader, const std::string& path, std::size_t label_at,
                         const std::vector<std::string>& labels, NumberTable& table, const Add& add) {
  ErrorList problems;
  while (true) {
    const auto next = reader.next();
    if (!next) {
      problems.add(next.error());
      continue;
    }
    if (!*next) break;
    const auto& record = **next;
    const auto where = fmt::format("{}:{}", path, record.line);
    const bool has_label = label_at < record.fields.size();
    if (!has_label) table.labels.push_back(0);
    auto added = has_label ? add_label(record.fields[label_at], labels, table) : Result<void>();
    if (added) added = add(record);
    if (!added) problems.add(in_context(where, added.error()));
    if (table.features.size() > kMostValues)
      return error(fmt::format("{}: more than {} numbers.", where, kMostValues));
  }
  if (!problems.empty()) return problems.error();
  if (table.labels.empty()) return error(path + ": has no rows beneath its header.");
  return {};
}

}  // namespace

std::optional<double> double_of(std::string_view text) {
  const auto read = read_field(text);
  const bool is_number = read.failure == std::errc() && read.is_whole && std::isfinite(read.value);
  return is_number ? std::optional(read.value) : std::nullopt;
}

std::optional<float> number_of(std::string_view field) {
  const auto read = double_of(field);
  if (!read || !std::isfinite(static_cast<float>(*read))) return std::nullopt;
  return static_cast<float>(*read);
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

Result<NumberTable> read_number_csv(const std::string& path, char separator, const std::string& label,
                                    const std::vector<std::string>& labels) {
  auto reader = CsvReader::open(path, separator);
  if (!reader) return reader.error();
  const auto& header = reader->header();
  const auto at = place_of(header, separator, label);
  if (!at) return in_context(path + ":1", at.error());
  if (auto named = check_names(header); !named) return in_context(path + ":1", named.error());
  NumberTable table;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i != *at) table.columns.push_back(header[i]);
  }
  const auto added = add_records(*reader, path, *at, labels, table, [&](const CsvRecord& record) {
    return add_numbers(record, header, *at, table);
  });
  if (!added) return added.error();
  if (header.size() < 2) return error(path + ": has no column beside the label.");
  return table;
}

Result<NumberTable> read_text_csv(const std::string& path, char separator, const TextColumns& columns,
                                  const std::string& label, const std::vector<std::string>& labels) {
  auto reader = CsvReader::open(path, separator);
  if (!reader) return reader.error();
  const auto& header = reader->header();
  const bool pairs = !columns.second.empty(), classes = !label.empty();
  const auto at = classes ? place_of(header, separator, label) : Result<std::size_t>(header.size());
  const auto text = at ? place_of(header, separator, columns.text, "text", "texts") : at;
  const auto second = text && pairs ? place_of(header, separator, columns.second, columns.second_option,
                                               fmt::format("{} texts", columns.second_option).c_str())
                                    : text;
  if (!second) return in_context(path + ":1", second.error());
  NumberTable table;
  const auto added =
      add_records(*reader, path, *at, labels, table, [&](const CsvRecord& record) -> Result<void> {
        table.texts.push_back(record.fields[*text]);
        if (pairs) table.seconds.push_back(record.fields[*second]);
        return classes ? Result<void>() : check_not_blank(table.texts.back());
      });
  if (!added) return added.error();
  return table;
}

Result<NumberTable> read_text_json_lines(const std::string& path, const TextColumns& columns,
                                         const std::string& label, const std::vector<std::string>& labels) {
  std::vector<std::string> members = {columns.text};
  if (!columns.second.empty()) members.push_back(columns.second);
  const auto texts = members.size();
  if (!label.empty()) members.push_back(label);
  NumberTable table;
  ErrorList problems;
  const auto text_of = [&](std::span<const json::value> fields, std::size_t at) -> Result<std::string> {
    if (const auto* text = fields[at].if_string()) return std::string(*text);
    return error(fmt::format("'{}' is {}, and not a text.", members[at], json::serialize(fields[at])));
  };
  const auto add = [&](std::span<const json::value> fields) -> Result<void> {
    for (std::size_t at = 0; at < texts; ++at) {
      auto text = text_of(fields, at);
      if (!text) return text.error();
      (at == 0 ? table.texts : table.seconds).push_back(std::move(*text));
    }
    if (label.empty()) {
      table.labels.push_back(0);
      return check_not_blank(table.texts.back());
    }
    const auto* written = fields.back().if_string();
    return add_label(written != nullptr ? std::string(*written) : shown(fields.back()), labels, table);
  };
  const auto visit = [&](const std::string& where, std::span<const json::value> fields) -> Result<void> {
    if (auto added = add(fields); !added) problems.add(in_context(where, added.error()));
    return {};
  };
  if (auto read = visit_json_lines(path, members, visit); !read) return read.error();
  if (!problems.empty()) return problems.error();
  return table;
}

Result<NumberTable> read_text_lines(const std::string& path, bool blank_too) {
  constexpr auto kMostLine = std::size_t{1} << 28;
  auto lines = LineReader::open(path, kMostLine);
  if (!lines) return lines.error();
  NumberTable table;
  ErrorList problems;
  bool any = false;
  while (true) {
    const auto line = lines->next();
    if (!line) return line.error();
    if (!*line) break;
    if (const auto bad = first_byte_not_utf8(**line)) return no_utf8(lines->where(), (**line)[*bad]);
    const auto text = check_not_blank(**line);
    any = any || text;
    if (!text && !blank_too) problems.add(in_context(lines->where(), text.error()));
    table.texts.emplace_back(**line);
  }
  if (!any) return error(path + ": has no text.");
  if (!problems.empty()) return problems.error();
  table.labels.resize(table.texts.size());
  return table;
}

}  // namespace hyfreedp::datasets
