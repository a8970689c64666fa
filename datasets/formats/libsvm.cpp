#include "datasets/formats/libsvm.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string_view>

#include "datasets/formats/lines.h"
#include "harness/base/error_list.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kMaxLine = std::size_t{1} << 26;  // 2 million features of 32 bytes

// All of `text` as a number.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value = {};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> real_in(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return number_in<double>(text);
}

// Takes the first field off `line`; empty at its end.
std::string_view take_field(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const auto field = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(field.size());
  return field;
}

// A field as an error quotes it.
std::string quoted(std::string_view field) {
  return "'" + as_one_line(field.substr(0, 40)) + (field.size() > 40 ? "...'" : "'");
}

Result<std::int64_t> class_of(std::string_view field, const std::vector<double>& labels) {
  const auto label = real_in(field);
  const auto found = label ? std::find(labels.begin(), labels.end(), *label) : labels.end();
  if (found == labels.end()) {
    return error(fmt::format("the label {} is none of the expected ones ({}).", quoted(field),
                             fmt::join(labels, ", ")));
  }
  return found - labels.begin();
}

// Writes the values of `line` into `row`, which is zero.
Result<void> fill_row(std::string_view line, std::span<float> row) {
  std::int64_t before = 0;
  while (true) {
    const auto field = take_field(line);
    if (field.empty()) return {};
    const auto colon = field.find(':');
    const auto index = number_in<std::int64_t>(field.substr(0, colon));
    if (colon == std::string_view::npos || !index) {
      return error(fmt::format("the field {} is not INDEX:VALUE.", quoted(field)));
    }
    if (*index < 1 || *index > static_cast<std::int64_t>(row.size())) {
      return error(fmt::format("the index in {} is outside 1 to {}.", quoted(field), row.size()));
    }
    if (*index == before) return error(fmt::format("the index {} is given twice.", before));
    if (*index < before) {
      return error(fmt::format("the index {} comes after {}; indices must ascend.", *index, before));
    }
    const auto value = real_in(field.substr(colon + 1));
    if (!value || !std::isfinite(static_cast<float>(*value))) {
      return error(fmt::format("the value in {} is not a finite number.", quoted(field)));
    }
    row[static_cast<std::size_t>(*index) - 1] = static_cast<float>(*value);
    before = *index;
  }
}

// Adds the example of a line whose label was taken off.
Result<void> add_row(std::string_view label_field, std::string_view line, const LibsvmShape& shape,
                     NumberTable& table) {
  if (label_field.empty()) return error("the line is empty; expected is LABEL INDEX:VALUE ...");
  const auto label = class_of(label_field, shape.labels);
  if (!label) return label.error();
  table.labels.push_back(*label);
  const auto columns = static_cast<std::size_t>(shape.features);
  table.features.resize(table.features.size() + columns);
  return fill_row(line, std::span(table.features).last(columns));
}

}  // namespace

Result<NumberTable> read_libsvm(const std::string& path, const LibsvmShape& shape) {
  HYFREEDP_CHECK(shape.features >= 1 && !shape.labels.empty(), "the shape of a LIBSVM file is not set");
  auto lines = LineReader::open(path, kMaxLine);
  if (!lines) return lines.error();
  NumberTable table;
  const auto columns = static_cast<std::size_t>(shape.features);
  const auto most = static_cast<std::size_t>(shape.max_values / shape.features);
  ErrorList problems;
  while (true) {
    const auto next = lines->next();
    if (!next) problems.add(next.error());
    if (!next || !*next) break;
    const auto comment = (*next)->find('#');
    auto line = (*next)->substr(0, comment);
    const auto label_field = take_field(line);
    if (label_field.empty() && comment != std::string_view::npos) continue;
    if (table.labels.size() == most) {
      return error(
          fmt::format("{}: more than {} examples of {} features are more than {} values. Raise the limit "
                      "if the file is right.",
                      lines->where(), most, columns, shape.max_values));
    }
    if (auto added = add_row(label_field, line, shape, table); !added) {
      problems.add(in_context(lines->where(), added.error()));
    }
  }
  if (!problems.empty()) return problems.error();
  if (table.labels.empty())
    return error(path + ": has no examples; expected are lines LABEL INDEX:VALUE ...");
  return table;
}

}  // namespace hyfreedp::datasets
