#include "harness/models/facts/facts.h"

#include "harness/models/facts/blueprint.h"

namespace hyfreedp::models {

Result<std::int64_t> parameter_count(const std::string& name, const json::object& options,
                                     const ModelInput& input) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  return plan->trainable_count();
}

Result<std::int64_t> weight_uses(const std::string& name, const json::object& options,
                                 const ModelInput& input) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  return graph::weight_uses(plan->graph, input);
}

Result<std::int64_t> token_count(const std::string& name, const json::object& options,
                                 const ModelInput& input) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  return graph::tokens_of(plan->graph, input);
}

Result<StepMemory> step_memory(const std::string& name, const json::object& options, const ModelInput& input,
                               const graph::Target& target) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  return graph::step_memory(plan->graph, plan->trainable, input, target);
}

Result<std::int64_t> feature_width(const std::string& name, const json::object& options,
                                   const ModelInput& input) {
  const auto plan = blueprint(name, options, input);
  if (!plan) return plan.error();
  for (const auto& parameter : plan->parameters) {
    if (plan->graph.head.empty() || parameter.name != plan->graph.head + "weight") continue;
    if (parameter.shape.size() == 2) return parameter.shape.at(1);
    return error("model " + name +
                 ": the head of its weights file is a convolution, which reads places and no features. Leave "
                 "'head: file' out.");
  }
  return error("model " + name +
               ": its output projection is tied to the token embedding, so it has no head before which "
               "features could be taken. Use a model with a head of its own.");
}

}  // namespace hyfreedp::models
