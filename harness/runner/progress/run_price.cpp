#include "harness/runner/progress/run_price.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "datasets/facts.h"
#include "datasets/image_options.h"
#include "harness/base/text.h"
#include "harness/models/facts/facts.h"

namespace hyfreedp::runner {
namespace {

constexpr double kLeastHours = 0.01;  // below, a number would say nothing

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
  const auto weights = models::weight_uses(config.model.name, config.model.options, input);
  if (!weights) return weights.error();
  const auto tokens = models::token_count(config.model.name, config.model.options, input);
  if (!tokens) return tokens.error();
  const auto per_sample = static_cast<double>(*weights) * static_cast<double>(*tokens);
  const auto steps = static_cast<double>(config.steps);
  const double batch = config.privacy.sample_rate * static_cast<double>(config.privacy.population);
  // Each of an example's copies passes through the network.
  const auto copies =
      static_cast<double>(std::max({std::int64_t{1}, config.training.augmentation.copies,
                                    datasets::sizes(**facts, config.dataset.options).copies}));
  const double trained = steps * batch * copies;
  // Forward and backward, or forward on both sides of the weights.
  const double of_a_step = config.privacy.released == trial::Released::loss_change ? 4 : 6;
  double probed = 0;
  if (const auto& probe = config.privacy.probe) {
    const double probes =
        copies *
        (probe->separate_batch ? probe->sample_rate * static_cast<double>(config.privacy.population) : batch);
    // The middle loss of a shared batch is the training pass's own.
    const double points = static_cast<double>(probe->points) - (probe->separate_batch ? 0 : 1);
    probed = std::ceil(steps / static_cast<double>(probe->interval)) * points * probes;
  }
  const auto& evaluation = config.evaluation;
  const auto checkpoints = evaluation.every > 0 ? config.steps / evaluation.every : 0;
  const auto sizes = datasets::sizes(**facts, config.dataset.options);
  double evaluated = static_cast<double>(sizes.test) * static_cast<double>(checkpoints + 1);
  for (const auto& [id, dataset] : config.ood_test) {
    const auto shifted = datasets::find_dataset(dataset.name);
    if (!shifted) return shifted.error();
    evaluated += static_cast<double>(datasets::sizes(**shifted, dataset.options).test);
  }
  if (evaluation.score || evaluation.oracle_validation)
    evaluated += static_cast<double>(sizes.private_validation);
  if (evaluation.oracle_train) evaluated += static_cast<double>(sizes.private_train);
  return RunPrice{.runs = 1,
                  .examples = trained + probed,
                  .flops = per_sample * (of_a_step * trained + 2 * probed),
                  .evaluation_flops = per_sample * 2 * evaluated,
                  .elements = static_cast<double>(sizes.features) * (trained + probed + evaluated)};
}

Result<double> feature_flops(const trial::Named& dataset) {
  if (!datasets::uses_network(dataset.options)) return 0.0;
  const auto facts = datasets::find_dataset(dataset.name);
  if (!facts) return facts.error();
  const auto network = datasets::frozen_network(dataset.options);
  if (!network) return network.error();
  const auto input = read_options<datasets::ImageOptions>(dataset.options).input();
  const auto weights = models::weight_uses(network->name, network->options, input);
  if (!weights) return weights.error();
  const auto tokens = models::token_count(network->name, network->options, input);
  if (!tokens) return tokens.error();
  const auto sizes = datasets::sizes(**facts, dataset.options);
  const auto images = sizes.copies * sizes.private_train + sizes.private_validation + sizes.test;
  return 2 * static_cast<double>(*weights) * static_cast<double>(*tokens) * static_cast<double>(images);
}

std::string price_text(const RunPrice& price, double tflops, double features) {
  const auto hours_of = [tflops](double flops) {
    const double hours = flops / (tflops * 1e12) / 3600;
    return hours < kLeastHours ? "under " + short_number(kLeastHours) : short_number(hours);
  };
  const auto once = features == 0
                        ? std::string()
                        : fmt::format(" Features that a network makes once: about {} FLOPs, {} GPU hours.",
                                      short_number(features, 3), hours_of(features));
  return fmt::format(
      "Price of these: {}, {} examples seen, about {} FLOPs of training and probing, {} GPU hours at "
      "an assumed {} TFLOP/s (--gpu-tflops).{}",
      counted(price.runs, "run"), short_number(price.examples, 3), short_number(price.flops, 3),
      hours_of(price.flops), short_number(tflops), once);
}

}  // namespace hyfreedp::runner
