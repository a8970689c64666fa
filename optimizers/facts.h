// Names, sources and options of every optimizer and learning-rate controller, without LibTorch.
#pragma once

#include <string>
#include <vector>

#include "harness/base/options.h"
#include "optimizers/options.h"

namespace hyfreedp::optimizers {

// The most vectors of d numbers that any registered optimizer keeps from step to step (Prodigy's
// two moments, its start and its weighted sum). tests/optimizers holds all of them to it.
inline constexpr int kMostStateVectors = 4;

struct Facts {
  std::string name;    // as a spec writes it
  std::string title;   // as a person reads it
  std::string source;  // paper or package whose rule it is
  std::vector<OptionSpec> options;
  // An error where resolved options exclude each other; null: none do.
  Result<void> (*check)(const json::object& options) = nullptr;
  bool owns_step_size = false;  // optimizer: accepts no learning-rate controller but "constant"
  // optimizer: what it follows is not a gradient but how much losses change along a random
  // direction (dp_zo.h)
  bool of_loss_changes = false;
  bool probes = false;          // controller: needs private loss probes in the privacy plan
  bool follows_slopes = false;  // controller: needs released gradients of a dimension each
  // controller: its rule needs exact losses; private plans refuse it
  bool non_private_only = false;
};

const std::vector<Facts>& optimizer_facts();
const std::vector<Facts>& controller_facts();
// An error if SGD has nesterov or free_step without momentum.
Result<void> check_sgd(const SgdOptions& options);
// Looks an entry up by name. The error for an unknown name lists the valid names and the nearest
// one.
Result<const Facts*> find_optimizer(const std::string& name);
Result<const Facts*> find_controller(const std::string& name);
// An error where the optimizer's resolved options have a list with one value for each tensor
// (layer_scale) and the model trains another number of `tensors`.
Result<void> check_layout(const std::string& optimizer, const json::object& options, std::size_t tensors);

}  // namespace hyfreedp::optimizers
