#include "harness/runner/execute/run_price.h"

#include <cmath>
#include <fmt/format.h>
#include <variant>

#include "datasets/facts.h"
#include "harness/base/text.h"
#include "harness/models/facts/facts.h"
#include "harness/models/facts/presets.h"

namespace hyfreedp::runner {
namespace {

constexpr double kLeastHours = 0.01;  // below, a number would say nothing

// Frozen weights are computed with, too.
Result<double> all_parameters(const trial::Named& model, const models::ModelInput& input) {
  auto options = model.options;
  if (options.contains("trainable")) options["trainable"] = "full";
  if (options.contains("trainable_pattern")) options["trainable_pattern"] = nullptr;
  const auto count = models::parameter_count(model.name, options, input);
  if (!count) return count.error();
  return static_cast<double>(*count);
}

Result<double> tokens(const trial::Named& model, const models::ModelInput& input) {
  if (input.is_sequence()) return static_cast<double>(input.length);
  if (model.name != "vit") return 1.0;
  const auto shape = models::shape_of(model.name, model.options, input);
  if (!shape) return shape.error();
  return static_cast<double>(std::get<models::VitShape>(*shape).patches() + 1);
}

}  // namespace

void RunPrice::add(const RunPrice& other) {
  runs += other.runs;
  examples += other.examples;
  flops += other.flops;
  evaluation_flops += other.evaluation_flops;
  elements += other.elements;
}

Result<RunPrice> price_of(const trial::TrialConfig& config) {
  const auto facts = datasets::find_dataset(config.dataset.name);
  if (!facts) return facts.error();
  const auto input = models::model_input(datasets::sizes(**facts, config.dataset.options));
  const auto parameters = all_parameters(config.model, input);
  if (!parameters) return parameters.error();
  const auto length = tokens(config.model, input);
  if (!length) return length.error();
  const auto steps = static_cast<double>(config.steps);
  const double trained = steps * config.privacy.sample_rate * static_cast<double>(config.privacy.population);
  double probed = 0;
  if (const auto& probe = config.privacy.probe) {
    const double batch = probe->separate_batch
                             ? probe->sample_rate * static_cast<double>(config.privacy.population)
                             : trained / steps;
    // The middle loss of a shared batch is the training pass's own.
    const double points = static_cast<double>(probe->points) - (probe->separate_batch ? 0 : 1);
    probed = std::ceil(steps / static_cast<double>(probe->interval)) * points * batch;
  }
  const auto& evaluation = config.evaluation;
  const auto checkpoints = evaluation.every > 0 ? config.steps / evaluation.every : 0;
  const auto sizes = datasets::sizes(**facts, config.dataset.options);
  double evaluated = static_cast<double>(sizes.test) * static_cast<double>(checkpoints + 1);
  if (evaluation.score || evaluation.oracle_validation)
    evaluated += static_cast<double>(sizes.private_validation);
  if (evaluation.oracle_train) evaluated += static_cast<double>(sizes.private_train);
  return RunPrice{.runs = 1,
                  .examples = trained + probed,
                  .flops = *parameters * *length * (6 * trained + 2 * probed),
                  .evaluation_flops = *parameters * *length * 2 * evaluated,
                  .elements = static_cast<double>(sizes.features) * (trained + probed + evaluated)};
}

std::string price_text(const RunPrice& price, double tflops) {
  const double hours = price.flops / (tflops * 1e12) / 3600;
  return fmt::format(
      "Price of these: {}, {} examples seen, about {} FLOPs of training and probing, {} GPU hours at "
      "an assumed {} TFLOP/s (--gpu-tflops).",
      counted(price.runs, "run"), short_number(price.examples, 3), short_number(price.flops, 3),
      hours < kLeastHours ? "under " + short_number(kLeastHours) : short_number(hours), short_number(tflops));
}

}  // namespace hyfreedp::runner
