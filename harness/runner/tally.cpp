#include "harness/runner/tally.h"

#include <optional>

namespace hyfreedp::runner {
namespace {

std::optional<double> scalar(const Update& update, const char* name) {
  const auto found = update.scalars.find(name);
  if (found == update.scalars.end()) return std::nullopt;
  return found->second;
}

}  // namespace

void Tally::known(const std::string& unit, double cost, bool over) {
  if (!units_.try_emplace(unit, Unit{cost, over}).second) return;
  ++board_.runs;
  if (over) {
    ++board_.runs_over;
  } else {
    board_.cost += cost;
  }
}

void Tally::over(const std::string& unit) {
  board_.selections.erase(unit);
  const auto found = units_.find(unit);
  if (found == units_.end() || found->second.over) return;
  found->second.over = true;
  ++board_.runs_over;
  board_.cost_over += found->second.cost;
}

void Tally::stepped(const Update& update) {
  const auto found = board_.running.find(update.slot);
  if (found == board_.running.end()) return;
  auto& trial = found->second;
  trial.step = update.step;
  trial.steps = update.steps;
  // Scalars that a step does not have keep their last value: probes come every few steps.
  if (const auto eta = scalar(update, "eta")) trial.step_size = eta;
  if (!trial.loss_is_released) return;
  if (const auto loss = scalar(update, "private_loss")) trial.private_loss = loss;
}

}  // namespace hyfreedp::runner
