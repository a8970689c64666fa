#include "harness/runner/execute/other_code.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/runner/executors/local_executor.h"
#include "harness/runner/odometer/release.h"
#include "harness/trial/code_marks.h"

namespace hyfreedp::runner {
namespace {

std::vector<std::string> parts_of(const results::RowCode& row, const std::string& worker) {
  if (!row.code) {
    if (worker.empty() || row.worker == worker) return {};
    return {"the program, before it recorded its code"};
  }
  auto parts = trial::changed_parts(*row.code, row.optimizer, row.controller);
  if (!row.method_code.empty() && row.method_code != trial::code_mark("method", row.method))
    parts.push_back("the method " + row.method);
  return parts;
}

}  // namespace

Result<std::vector<OtherCodeRow>> rows_of_other_code(const results::Store& store, const std::string& spec,
                                                     const std::string& worker) {
  if (trial::code_mark("engine").empty()) return std::vector<OtherCodeRow>{};
  const auto codes = store.row_codes(spec);
  if (!codes) return codes.error();
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> rows;
  for (const auto& one : *codes) {
    for (auto& part : parts_of(one, worker)) {
      auto& parts = rows[{one.panel, one.row}];
      if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
    }
  }
  std::vector<OtherCodeRow> changed;
  changed.reserve(rows.size());
  for (auto& [place, parts] : rows) changed.push_back({place.first, place.second, std::move(parts)});
  return changed;
}

std::string other_code_text(const std::vector<OtherCodeRow>& rows) {
  const bool one_panel =
      std::ranges::all_of(rows, [&](const auto& row) { return row.panel == rows[0].panel; });
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const auto& row : rows) {
    texts.push_back(
        fmt::format("{}{} ({})", one_panel ? "" : row.panel + ", ", row.row, join(row.parts, ", ")));
  }
  return fmt::format("{} trained by other code than this program's: {}",
                     rows.size() == 1 ? "1 row was" : fmt::format("{} rows were", rows.size()),
                     join(texts, "; "));
}

std::string other_build_text(const std::string& worker) {
  constexpr std::string_view kLead = "hyfreedp code marks: ";  // harness/training/worker/main.cpp
  const auto own = trial::code_mark("all");
  const auto program = own.empty() ? Result<std::string>(std::string()) : read_file(worker);
  const auto at = program ? program->find(kLead) : std::string::npos;
  if (at == std::string::npos || program->compare(at + kLead.size(), own.size(), own) == 0) return "";
  return "hyfreedp-worker is of another build than hyfreedp, so what it trains counts as trained by other "
         "code; build both (ninja)";
}

Result<std::string> other_code_note(const results::Store& store, const std::string& spec,
                                    const std::string& worker) {
  const auto changed = rows_of_other_code(store, spec, worker);
  if (!changed) return changed.error();
  const auto recorded = store.spec(spec);
  if (!recorded) return recorded.error();
  if (changed->empty() || !*recorded) return std::string();
  const auto program = find_worker();
  if (const auto other = program ? other_build_text(*program) : ""; !other.empty())
    return fmt::format("{}. {}.", other_code_text(*changed), other);
  return fmt::format(
      "{}. The numbers stay those of that code; `hyfreedp run SPEC --retrain ROW` (or all) trains such rows "
      "anew{}.",
      other_code_text(*changed),
      has_seeded_noise(**recorded)
          ? ""
          : ", which is a further release of the same data and spends a row's epsilon again");
}

Result<std::set<std::pair<std::string, std::string>>> rows_to_retrain(
    const std::vector<OtherCodeRow>& changed, const std::vector<std::string>& asked, const spec::Spec& spec) {
  std::set<std::string> known;
  for (const auto& panel : spec.panels) {
    for (const auto& row : panel.rows) known.insert(row.id);
  }
  const bool all = std::ranges::find(asked, "all") != asked.end() && !known.contains("all");
  for (const auto& name : asked) {
    if (!all && !known.contains(name))
      return unknown_name("--retrain", name, std::vector<std::string>(known.begin(), known.end()));
  }
  std::set<std::pair<std::string, std::string>> rows;
  for (const auto& row : changed) {
    if (all || std::ranges::find(asked, row.row) != asked.end()) rows.insert({row.panel, row.row});
  }
  return rows;
}

}  // namespace hyfreedp::runner
