#include "harness/runner/execute/seed_gate.h"

#include "results/store/states.h"
#include "results/table/sequential_seeds.h"

namespace hyfreedp::runner {

bool SeedGate::is_sequential(const results::StudyRecord& study) const {
  const auto* panel = spec::find_panel(spec_, study.panel);
  const auto* row = panel != nullptr ? spec::find_row(*panel, study.row) : nullptr;
  return row != nullptr && spec::has_sequential_seeds(*panel, *row);
}

bool SeedGate::hold(std::size_t index, const results::StudyRecord& study) {
  if (!is_sequential(study)) return false;
  const auto* panel = spec::find_panel(spec_, study.panel);
  auto& column = columns_[{study.panel, study.epsilon_target}];
  if (study.seed < panel->sequential->from || !study.trials.empty()) {
    column.running.insert(index);
    return false;
  }
  column.held[study.seed].push_back(index);
  return true;
}

void SeedGate::over(std::size_t index, const results::StudyRecord& study) {
  const auto found = columns_.find({study.panel, study.epsilon_target});
  if (found != columns_.end()) found->second.running.erase(index);
}

void SeedGate::drop(std::size_t index) {
  for (auto& [place, column] : columns_) {
    for (auto& [seed, indices] : column.held) std::erase(indices, index);
    std::erase_if(column.held, [](const auto& one) { return one.second.empty(); });
  }
}

Result<SeedGate::Next> SeedGate::next() {
  Next next;
  for (auto& [place, column] : columns_) {
    if (!column.running.empty() || column.held.empty() || column.is_stuck) continue;
    if (auto looked = look(*spec::find_panel(spec_, place.first), place.second, column, next); !looked)
      return looked.error();
  }
  return next;
}

void SeedGate::end_rest(Column& column, Next& next) {
  for (const auto& [seed, indices] : column.held) {
    next.not_needed.insert(next.not_needed.end(), indices.begin(), indices.end());
  }
  column.held.clear();
}

Result<void> SeedGate::look(const spec::Panel& panel, const std::optional<double>& epsilon, Column& column,
                            Next& next) const {
  const auto* row = spec::find_row(panel, panel.sequential->first);
  if (row == nullptr || !results::has_column(*row, epsilon)) {
    end_rest(column, next);
    return {};
  }
  const auto studies = store_.studies(spec_.name);
  if (!studies) return studies.error();
  results::ComparedSeeds compared(store_, *panel.sequential);
  for (const auto& study : *studies) {
    if (study.panel == panel.id && study.epsilon_target == epsilon) compared.add(study);
  }
  const auto seed = column.held.begin()->first;
  if (!compared.can_look(seed)) {
    column.is_stuck = true;
    return {};
  }
  // If the panel's other rows were not trained at the same time as the compared ones, they get the
  // same seeds.
  bool is_needed = seed < compared.known();
  if (!is_needed && !compared.has_stopped()) {
    const auto found = compared.look(seed);
    if (!found) return found.error();
    is_needed = !found->is_decided();
  }
  if (!is_needed) {
    end_rest(column, next);
    return {};
  }
  for (const auto index : column.held.begin()->second) {
    column.running.insert(index);
    next.start.push_back(index);
  }
  column.held.erase(column.held.begin());
  return {};
}

std::size_t SeedGate::held() const {
  std::size_t count = 0;
  for (const auto& [place, column] : columns_) {
    for (const auto& [seed, indices] : column.held) count += indices.size();
  }
  return count;
}

}  // namespace hyfreedp::runner
