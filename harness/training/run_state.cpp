#include "harness/training/run_state.h"

#include <algorithm>
#include <utility>

namespace hyfreedp::training {
namespace {

using torch::Tensor;

constexpr const char* kWeights = "weights";
constexpr const char* kAverage = "average";
constexpr const char* kFeatureMean = "feature_mean";
constexpr const char* kDirection = "direction";
constexpr const char* kClipping = "clipping";
constexpr const char* kOptimizer = "optimizer";
constexpr const char* kController = "controller";
constexpr const char* kNorms = "norms";
constexpr const char* kStep = "step";

const Tensor* find(const State& state, const std::string& name) {
  const auto found = state.tensors.find(name);
  return found == state.tensors.end() ? nullptr : &found->second;
}

bool is_like(const Tensor* stored, const Tensor& own) {
  return stored != nullptr && stored->sizes() == own.sizes() && stored->scalar_type() == own.scalar_type();
}

bool has_names_of(const std::map<std::string, double>& stored, const std::map<std::string, double>& own) {
  return std::equal(stored.begin(), stored.end(), own.begin(), own.end(),
                    [](const auto& left, const auto& right) { return left.first == right.first; });
}

Error unlike(const std::string& what) {
  return error("the checkpoint does not fit the run: its " + what +
               " is of another kind, so the run does not go on from it");
}

Result<void> check(const State& state, const RunState& run) {
  if (!is_like(find(state, kWeights), run.weights)) return unlike(kWeights);
  if (!state.scalars.contains(kClipping)) return unlike(kClipping);
  const auto optimizer = state.part(kOptimizer);
  const auto own = run.optimizer.state_tensors();
  if (optimizer.tensors.size() != own.size()) return unlike(kOptimizer);
  for (const auto& [name, tensor] : own) {
    if (!is_like(find(optimizer, name), tensor)) return unlike("optimizer's " + name);
  }
  if (!has_names_of(optimizer.scalars, run.optimizer.state_scalars())) return unlike(kOptimizer);
  if (!has_names_of(state.part(kController).scalars, run.controller.state_scalars())) {
    return unlike(kController);
  }
  if (run.direction != nullptr && !is_like(find(state, kDirection), run.weights)) return unlike(kDirection);
  const auto* average = find(state, kAverage);
  if (average != nullptr && !is_like(average, run.weights)) return unlike(kAverage);
  return {};
}

}  // namespace

State saved(const RunState& run) {
  State all;
  all.tensors[kWeights] = run.weights;
  all.scalars[kClipping] = run.clipping_constant;
  State optimizer{.tensors = {}, .scalars = run.optimizer.state_scalars()};
  for (const auto& [name, tensor] : run.optimizer.state_tensors()) optimizer.tensors[name] = tensor;
  all.add(kOptimizer, optimizer);
  all.add(kController, {.tensors = {}, .scalars = run.controller.state_scalars()});
  if (run.average.parameters().defined()) all.tensors[kAverage] = run.average.parameters();
  all.add(kNorms, run.norms.state());
  if (run.feature_mean.defined()) all.tensors[kFeatureMean] = run.feature_mean;
  if (run.direction != nullptr) all.tensors[kDirection] = *run.direction;
  all.add(kStep, {.tensors = {}, .scalars = run.scalars});
  return all;
}

Result<void> restore(const State& state, const RunState& run) {
  if (auto checked = check(state, run); !checked) return checked;
  const auto own = [&](const Tensor& stored) {
    return stored.to(run.weights.device(), stored.scalar_type(), false, /*copy=*/true);
  };
  run.weights.copy_(*find(state, kWeights));
  run.clipping_constant = state.scalars.at(kClipping);
  const auto optimizer = state.part(kOptimizer);
  for (auto& [name, tensor] : run.optimizer.state_tensors()) tensor.copy_(*find(optimizer, name));
  run.optimizer.restore_scalars(optimizer.scalars);
  run.controller.restore_scalars(state.part(kController).scalars);
  if (const auto* average = find(state, kAverage)) run.average.restore(own(*average));
  auto norms = state.part(kNorms);
  for (auto& [name, tensor] : norms.tensors) tensor = own(tensor);
  run.norms.restore(norms);
  if (const auto* mean = find(state, kFeatureMean)) run.feature_mean = own(*mean);
  if (run.direction != nullptr) *run.direction = own(*find(state, kDirection));
  run.scalars = state.part(kStep).scalars;
  return {};
}

}  // namespace hyfreedp::training
