#include "harness/runner/spec/spec_unread.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <set>
#include <string>

#include "baselines/baseline.h"
#include "harness/runner/spec/spec_defaults.h"

namespace hyfreedp::runner {
namespace {

void warn_of(const Entry& entry, const std::string& why, Problems& problems) {
  problems.warn(entry.remark(fmt::format("{} has no effect: {}.", entry.path(), why)));
}

std::optional<Entry> inside(const Entry& level, const char* map, const char* key) {
  const auto found = level.find(map);
  return found && found->is_map() ? found->find(key) : std::nullopt;
}

// Wherever a document may say something of its cells.
std::vector<Entry> levels_of(const Entry& document) {
  std::vector<Entry> levels{document};
  const auto add = [&levels](const Entry& level, const char* key) {
    const auto found = level.find(key);
    if (found && found->is_map()) levels.push_back(*found);
    if (!found || !found->is_list()) return;
    for (auto& one : found->list().value()) levels.push_back(std::move(one));
  };
  add(document, "defaults");
  add(document, "panels");
  for (std::size_t i = 0, count = levels.size(); i < count; ++i) add(Entry(levels[i]), "rows");
  return levels;
}

// Warns of keys for private cells alone, or for the others, if there are no such cells.
void warn_of_other_cells(const Entry& document, const std::vector<spec::Panel>& panels, Problems& problems) {
  bool has_private = false, has_others = false, clips_others = false;
  for (const auto& panel : panels) {
    has_private = has_private || !panel.noise_multipliers.empty();
    for (const double epsilon : panel.epsilons) {
      (spec::target_of(epsilon) ? has_private : has_others) = true;
    }
    clips_others =
        clips_others || std::ranges::count(panel.rows, spec::Control::clip_only, &spec::Row::control) > 0;
  }
  const auto warn = [&](std::initializer_list<const char*> keys, const char* why) {
    for (const auto& level : levels_of(document)) {
      for (const char* key : keys) {
        for (const auto& entry :
             {level.find(key), inside(level, "train", key), inside(level, "evaluate", key)}) {
          if (entry) warn_of(*entry, why, problems);
        }
      }
    }
  };
  if (!has_others) warn({"control"}, "it is of cells of epsilon inf, and there is none");
  if (has_private) return;
  constexpr const char* kNoPrivate = "it is of private cells, and every cell is of epsilon inf";
  warn({"delta", "accountant", "noise_residual"}, kNoPrivate);
  if (!clips_others) warn({"clipping", "clipping_constant", "clipping_groups"}, kNoPrivate);
}

void warn_of_other_defaults(const Entry& document, Problems& problems) {
  for (const auto& [value, own] : unread_defaults(document, document)) {
    warn_of(value, fmt::format("every panel has this key itself ({})", own.front()), problems);
  }
}

// Rows of the top level, of which each panel names its own.
void warn_of_other_rows(const Entry& document, Problems& problems) {
  const auto rows = document.find("rows"), panels = document.find("panels");
  if (!rows || !panels) return;
  std::set<std::string> used;
  for (const auto& panel : panels->list().value()) {
    const auto own = panel.find("rows");
    if (!own || !own->is_list()) return;  // it has them all
    for (const auto& row : own->list().value()) {
      const auto name = row.is_map() ? row.find("use") : std::optional(row);
      if (name && name->is_text()) used.insert(name->text().value());
    }
  }
  for (const auto& row : rows->list().value()) {
    for (const char* key : {"id", "use", "method"}) {
      const auto name = row.is_map() ? row.find(key) : std::optional(row);
      if (!name || !name->is_text()) continue;
      if (!used.contains(name->text().value())) {
        problems.warn(row.remark(fmt::format("the row {} has no effect: no panel uses it.", name->shown())));
      }
      break;
    }
  }
}

void warn_of_table(const Entry& table, const spec::Table& given, const std::vector<spec::Panel>& panels,
                   Problems& problems) {
  const auto any = [&](const auto& has) {
    return std::ranges::any_of(panels,
                               [&](const auto& panel) { return std::ranges::any_of(panel.rows, has); });
  };
  const auto oracle = baselines::to_string(baselines::Label::oracle);
  if (given.oracle_beaten.value_or(false) && !given.rerr &&
      !any([&](const spec::Row& row) { return row.label == oracle; })) {
    warn_of(*table.find("oracle_beaten"), "no row is an oracle", problems);
  }
  if (given.groups && *given.groups != spec::FoldedGroups::all &&
      !any([](const spec::Row& row) { return !row.group.empty(); })) {
    warn_of(*table.find("groups"), "no row is in a 'group'", problems);
  }
}

void warn_of_raw_losses(const Entry& document, const std::vector<spec::Panel>& panels, Problems& problems) {
  for (const auto& panel : panels) {
    if (std::ranges::any_of(
            panel.rows, [](const spec::Row& row) { return (*baselines::find_baseline(row.method))->probes; }))
      return;
  }
  for (const auto& level : levels_of(document)) {
    if (const auto entry = inside(level, "evaluate", "raw_losses")) {
      warn_of(*entry, "it is of loss probes, and no row makes them", problems);
    }
  }
}

}  // namespace

void warn_of_unread(const Entry& document, const spec::Spec& spec, const std::vector<spec::Panel>& panels,
                    Problems& problems) {
  warn_of_other_cells(document, panels, problems);
  if (spec.preset.empty()) {  // otherwise another preset may read them
    warn_of_other_defaults(document, problems);
    warn_of_other_rows(document, problems);
  }
  warn_of_raw_losses(document, panels, problems);
  if (spec.table) warn_of_table(*document.find("table"), *spec.table, panels, problems);
}

}  // namespace hyfreedp::runner
