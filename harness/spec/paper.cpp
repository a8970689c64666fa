#include "harness/spec/paper.h"

#include <cstdlib>

namespace hyfreedp::spec {
namespace {

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : canonical_json(value);
}

template <class T>
Result<T> read_described(const json::value& value, const std::string& where) {
  if (!value.is_object()) return description::wrong_type(where, "an object", value);
  T target;
  if (auto read = description::read_members(value.get_object(), where, target); !read) return read.error();
  return target;
}

}  // namespace

Result<PaperCell> PaperCell::from_json(const json::value& value, const std::string& where) {
  auto read = read_described<PaperCell>(value, where);
  if (!read) return read;
  read->printed = value.get_object();
  read->printed.erase("row");
  read->printed.erase("columns");
  return read;
}

Result<PaperTable> PaperTable::from_json(const json::value& value, const std::string& where) {
  auto read = read_described<PaperTable>(value, where);
  if (read) read->whole = value.get_object();
  return read;
}

std::optional<double> PaperCell::number() const {
  return value.is_number() ? std::optional(value.to_number<double>()) : std::nullopt;
}

std::vector<std::string> labels_of(const json::array& labels) {
  std::vector<std::string> texts;
  for (const auto& one : labels) texts.push_back(text_of(one));
  return texts;
}

std::map<std::optional<double>, PaperCell> printed_cells(const std::map<std::string, json::object>& paper) {
  std::map<std::optional<double>, PaperCell> cells;
  for (const auto& [epsilon, printed] : paper) {
    auto cell = PaperCell::from_json(printed, "paper");
    const double target = std::strtod(epsilon.c_str(), nullptr);
    if (cell && cell->number() && target > 0) cells[target_of(target)] = std::move(*cell);
  }
  return cells;
}

}  // namespace hyfreedp::spec
