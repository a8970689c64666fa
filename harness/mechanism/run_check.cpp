#include "harness/mechanism/run_check.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/mechanism/releases.h"
#include "harness/models/facts/blueprint.h"
#include "harness/models/graph/model_input.h"
#include "optimizers/facts.h"
#include "optimizers/options.h"

namespace hyfreedp::mechanism {
namespace {

using trial::TrialConfig;

// Raw values of private samples are releases that nothing prices.
Result<void> check_raw_values(const TrialConfig& config) {
  const auto& recorded = config.evaluation.recorded;
  std::string what;
  if (recorded.gradient_norms) what = "gradient_norms would journal raw norms";
  if (recorded.noise_residual) what = "noise_residual would journal what the noise hides";
  if (recorded.raw_losses) what = "raw_losses would journal losses without noise";
  if (recorded.training_split) what = "training_split would journal loss and accuracy without noise";
  if (what.empty() || datasets::training_split_is_public(config.dataset.name, config.dataset.options))
    return {};
  return error(
      fmt::format("{} of the private examples of '{}'; it is for datasets whose training split is public.",
                  what, config.dataset.name));
}

Result<void> check_releases(const TrialConfig& config, const datasets::Sizes& sizes) {
  const auto planned = releases(config.privacy);
  for (const auto& asked : asked_releases()) {
    const auto lacking = asked.lacking(sizes);
    if (lacking.empty() || find(planned, asked.purpose) == nullptr) continue;
    return error(fmt::format("the release '{}' needs {}, and '{}' has none.", asked.purpose, lacking,
                             config.dataset.name));
  }
  return {};
}

Result<void> check_controller(const TrialConfig& config) {
  const auto controller = optimizers::find_controller(config.controller.name);
  if (!controller) return controller.error();
  const auto optimizer = optimizers::find_optimizer(config.optimizer.name);
  if (!optimizer) return optimizer.error();
  const auto& facts = **controller;
  if (facts.non_private_only && config.privacy.is_private) {
    return error(
        fmt::format("controller '{}' assumes exact losses and cannot run under a private plan.", facts.name));
  }
  if ((**optimizer).owns_step_size && (facts.probes || facts.follows_slopes)) {
    return error(
        fmt::format("optimizer '{}' owns its step size, so controller '{}' has nothing to control; use an "
                    "optimizer that takes a learning rate.",
                    config.optimizer.name, facts.name));
  }
  if ((**optimizer).of_loss_changes && facts.follows_slopes) {
    return error(fmt::format("controller '{}' follows slopes of gradients, and optimizer '{}' computes none.",
                             facts.name, config.optimizer.name));
  }
  if (const auto warmup = read_options<optimizers::ScheduleOptions>(config.controller.options).warmup;
      warmup > 0 && warmup >= config.steps) {
    return error(
        fmt::format("a 'warmup' of {} steps is not over when the run is, after {}.", warmup, config.steps));
  }
  if (facts.probes != config.privacy.probe.has_value()) {
    return error(fmt::format("controller '{}' {} loss probes but the privacy plan has {}.", facts.name,
                             facts.probes ? "needs" : "asks for no", config.privacy.probe ? "them" : "none"));
  }
  return {};
}

// Checks that the optimizer follows what the plan releases.
Result<void> check_optimizer(const TrialConfig& config) {
  const auto facts = optimizers::find_optimizer(config.optimizer.name);
  if (!facts) return facts.error();
  const bool released = config.privacy.released == trial::Released::loss_change;
  if ((**facts).of_loss_changes == released) return {};
  return error(fmt::format("optimizer '{}' follows {}, and the privacy plan releases {}.",
                           config.optimizer.name, released ? "gradients" : "changes of losses",
                           released ? "changes of losses" : "gradients"));
}

Result<void> check_augmentation(const TrialConfig& config, const datasets::Sizes& sizes) {
  const auto& options = config.training.augmentation;
  if (options.copies == 0) return {};
  const auto [channels, height, width] = sizes.image;
  if (channels == 0) {
    return error(
        fmt::format("'{}' has no images under these options, and augmentations are of images; take out "
                    "'augmentations', or use a dataset of pixels.",
                    config.dataset.name));
  }
  if (options.shift >= std::min(height, width)) {
    return error(
        fmt::format("'augmentation_shift' moves an image of {} x {} pixels out of sight; it must be "
                    "smaller than a side.",
                    height, width));
  }
  return {};
}

Result<void> check_precision(const TrialConfig& config) {
  if (config.dtype != "float32" && config.dtype != "float64") {
    return error(fmt::format("dtype '{}' is not known; use float32 or float64.", config.dtype));
  }
  const bool narrow = config.training.precision == trial::Precision::bf16 ||
                      config.training.probe_precision == trial::Precision::bf16;
  if (!narrow || config.dtype == "float32") return {};
  return error(fmt::format("precision bf16 is for dtype float32, not {}.", config.dtype));
}

// Checks what depends on the parts of the network.
Result<void> check_network(const TrialConfig& config, const datasets::Sizes& sizes) {
  const auto network = models::blueprint(config.model.name, config.model.options, models::model_input(sizes));
  if (!network) return network.error();
  if (config.training.activation_checkpointing) {
    if (config.privacy.released == trial::Released::loss_change) {
      return error(
          fmt::format("optimizer '{}' computes no gradients, so it keeps no activations; take "
                      "'activation_checkpointing' out.",
                      config.optimizer.name));
    }
    if (network->graph.blocks.empty()) {
      return error(
          fmt::format("model '{}' has no blocks that could be computed again; take "
                      "'activation_checkpointing' out.",
                      config.model.name));
    }
  }
  const auto tensors = static_cast<std::size_t>(std::ranges::count(network->trainable, true));
  return optimizers::check_layout(config.optimizer.name, config.optimizer.options, tensors);
}

}  // namespace

Result<void> check_average(const trial::TrainingOptions& training, const trial::Named& optimizer,
                           std::int64_t steps) {
  if (training.average == trial::Average::none) return {};
  if (steps > 0 && training.average_from >= steps) {
    return error(
        fmt::format("'average_from' must be below the {} steps of a run, or nothing is averaged.", steps));
  }
  const auto end = read_options<optimizers::EndOptions>(optimizer.options);
  if (end.free_step) {
    return error(
        "the optimizer's 'free_step' moves the weights after the last step, and train.average evaluates the "
        "run at their average; keep one of the two.");
  }
  if (!end.average) return {};
  return error(
      fmt::format("optimizer '{}' evaluates at an average of its own, and train.average asks for another; "
                  "keep one of the two.",
                  optimizer.name));
}

Result<void> check_run(const TrialConfig& config, const datasets::Sizes& sizes) {
  if (auto plan = config.privacy.check(); !plan) return plan;
  if (auto raw = check_raw_values(config); !raw) return raw;
  if (auto releases = check_releases(config, sizes); !releases) return releases;
  if (auto optimizer = check_optimizer(config); !optimizer) return optimizer;
  if (auto controller = check_controller(config); !controller) return controller;
  if (auto average = check_average(config.training, config.optimizer, config.steps); !average) {
    return average;
  }
  if (auto augmentation = check_augmentation(config, sizes); !augmentation) return augmentation;
  if (auto precision = check_precision(config); !precision) return precision;
  return check_network(config, sizes);
}

}  // namespace hyfreedp::mechanism
