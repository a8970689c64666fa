#include "datasets/formats/json_lines.h"

#include <cmath>
#include <fmt/format.h>

#include "datasets/formats/lines.h"
#include "harness/base/text.h"

namespace hyfreedp::datasets {
namespace {

Error no_field(const std::string& where, const std::string& field, const json::object& record) {
  std::vector<std::string> names;
  for (const auto& member : record) names.emplace_back(member.key());
  return error(fmt::format("{}: the record has no field '{}'.{}", where, field, did_you_mean(field, names)));
}

}  // namespace

Result<void> visit_json_lines(const std::string& path, const std::vector<std::string>& fields,
                              const VisitRecord& visit, std::size_t max_line) {
  auto lines = LineReader::open(path, max_line);
  if (!lines) return lines.error();
  std::vector<json::value> values(fields.size());
  std::size_t records = 0;
  while (true) {
    const auto line = lines->next();
    if (!line) return line.error();
    if (!*line) break;
    const auto where = lines->where();
    if ((*line)->find_first_not_of(" \t") == std::string_view::npos) {
      return error(where + ": the line is empty; expected is a JSON object.");
    }
    auto record = parse_json(**line, where);
    if (!record) return record.error();
    auto* object = record->if_object();
    if (object == nullptr) {
      return error(fmt::format("{}: expected is a JSON object, found {}.", where, shown(*record)));
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
      auto* value = object->if_contains(fields[i]);
      if (value == nullptr) return no_field(where, fields[i], *object);
      if (value->is_double() && !std::isfinite(value->get_double())) {
        return error(fmt::format("{}: '{}' is too large for a number.", where, fields[i]));
      }
      values[i] = std::move(*value);
    }
    if (auto visited = visit(where, values); !visited) return visited;
    ++records;
  }
  if (records == 0) return error(path + ": has no records; expected are lines with a JSON object each.");
  return {};
}

}  // namespace hyfreedp::datasets
