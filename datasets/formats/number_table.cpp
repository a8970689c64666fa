#include "datasets/formats/number_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "datasets/formats/csv.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 28;

Result<float> number_in(const std::string& column, const std::string& field) {
  const auto* begin = field.data();
  const auto* end = begin + field.size();
  double value = 0;
  const auto read = std::from_chars(field.starts_with('+') ? begin + 1 : begin, end, value);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(static_cast<float>(value)))
    return static_cast<float>(value);
  return error(
      fmt::format("the column '{}' has '{}', which is not a number. Only numbers are read: replace "
                  "names and missing values by numbers first.",
                  as_one_line(column), as_one_line(field.substr(0, 40))));
}

Result<std::size_t> place_of(const std::vector<std::string>& header, const std::string& label) {
  const auto count = std::count(header.begin(), header.end(), label);
  if (count == 1) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), label) - header.begin());
  }
  return error(fmt::format("{} column is called '{}'.{} The option 'label' names the one with the classes.",
                           count == 0 ? "no" : "more than one", label, did_you_mean(label, header)));
}

}  // namespace

Result<NumberTable> read_number_csv(const std::string& path, char separator, const std::string& label,
                                    const std::vector<std::string>& labels) {
  auto reader = CsvReader::open(path, separator);
  if (!reader) return reader.error();
  const auto& header = reader->header();
  const auto at = place_of(header, label);
  if (!at) return in_context(path + ":1", at.error());
  NumberTable table;
  while (true) {
    const auto next = reader->next();
    if (!next) return next.error();
    if (!*next) break;
    const auto& record = **next;
    const auto where = [&] { return fmt::format("{}:{}", path, record.line); };
    const auto found = std::find(labels.begin(), labels.end(), record.fields[*at]);
    if (found == labels.end()) {
      return error(fmt::format("{}: the label '{}' is none of the expected ones ({}).", where(),
                               as_one_line(record.fields[*at].substr(0, 40)), join(labels, ", ")));
    }
    if (table.features.size() + header.size() > kMostValues)
      return error(fmt::format("{}: more than {} numbers.", where(), kMostValues));
    table.labels.push_back(found - labels.begin());
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (i == *at) continue;
      const auto value = number_in(header[i], record.fields[i]);
      if (!value) return in_context(where(), value.error());
      table.features.push_back(*value);
    }
  }
  if (table.labels.empty()) return error(path + ": has no rows beneath its header.");
  if (header.size() < 2) return error(path + ": has no column beside the label.");
  return table;
}

}  // namespace hyfreedp::datasets
