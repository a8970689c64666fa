#include "harness/spec/paper.h"

#include <cstdlib>

namespace hyfreedp::spec {
namespace {

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : canonical_json(value);
}

}  // namespace

std::optional<double> PaperCell::number() const {
  return value.is_number() ? std::optional(value.to_number<double>()) : std::nullopt;
}

std::vector<std::string> labels_of(const json::array& labels) {
  std::vector<std::string> texts;
  for (const auto& one : labels) texts.push_back(text_of(one));
  return texts;
}

Result<PaperTable> read_paper_table(const json::object& table, const std::string& where) {
  auto read = from_json<PaperTable>(table, where);
  if (read) read->whole = table;
  return read;
}

std::map<std::optional<double>, PaperCell> printed_cells(const Row& row) {
  std::map<std::optional<double>, PaperCell> cells;
  for (const auto& [epsilon, printed] : row.paper) {
    auto cell = from_json<PaperCell>(printed, "paper");
    const double target = std::strtod(epsilon.c_str(), nullptr);
    if (cell && cell->number() && target > 0) cells[target_of(target)] = std::move(*cell);
  }
  return cells;
}

}  // namespace hyfreedp::spec
