#include "harness/training/audit/experiment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/models/facts/facts.h"
#include "harness/random/draws.h"
#include "optimizers/facts.h"

namespace hyfreedp::training {
namespace {

// Noise alone moves a canary's logits by 0.1 sigma / B * kCanarySize a step.
constexpr double kLearningRate = 0.1;
constexpr float kCanarySize = 1e4F;
constexpr float kOneRunCanarySize = 30;
constexpr std::int64_t kHiddenWidth = 16;

template <class Found>
Result<trial::Named> named(const Found& facts, const std::string& name, const json::object& options) {
  if (!facts) return facts.error();
  auto resolved = resolve_options((**facts).options, options, name);
  if (!resolved) return resolved.error();
  return trial::Named{name, *resolved};
}

Result<void> assign(trial::Named& target, Result<trial::Named> source) {
  if (!source) return source.error();
  target = std::move(*source);
  return {};
}

Result<trial::TrialConfig> config_of(const audit::Request& request, std::int64_t canary_columns) {
  trial::TrialConfig config;
  config.privacy = request.plan;
  config.steps = request.steps;
  config.noise_seed = request.seed;
  auto dataset = named(datasets::find_dataset("synthetic"), "synthetic",
                       {{"train", request.plan.population},
                        {"validation", 1},
                        {"test", 100},
                        {"classes", kAuditClasses},
                        {"features", kOrdinaryFeatures + canary_columns}});
  if (auto set = assign(config.dataset, std::move(dataset)); !set) return set.error();
  const json::object layers =
      request.model == "mlp" ? json::object{{"hidden", json::array{kHiddenWidth}}} : json::object{};
  if (auto set = assign(config.model, named(models::find_model(request.model), request.model, layers));
      !set) {
    return set.error();
  }
  const bool follows_losses = request.plan.released == trial::Released::loss_change;
  const std::string optimizer = follows_losses ? "dp-zo" : "sgd";
  if (auto set = assign(config.optimizer, named(optimizers::find_optimizer(optimizer), optimizer, {}));
      !set) {
    return set.error();
  }
  // So that noise alone moves the weights as it does where gradients are released.
  const double rate = follows_losses ? 2 * optimizers::DpZoOptions().scale * kLearningRate : kLearningRate;
  // Clamped: a raw ratio of noises may throw the weights so far that no canary is left undecided.
  auto controller = request.plan.probe.has_value()
                        ? named(optimizers::find_controller("hyfreedp"), "hyfreedp",
                                {{"eta0", kLearningRate},
                                 {"interval", request.plan.probe->interval},
                                 {"acceptance", "clamp"}})
                        : named(optimizers::find_controller("constant"), "constant", {{"lr", rate}});
  if (auto set = assign(config.controller, std::move(controller)); !set) return set.error();
  return config;
}

// Ordinary records, nothing in the columns of canaries.
Result<datasets::Dataset> ordinary_records(const trial::TrialConfig& config) {
  auto dataset = datasets::load_dataset(config.dataset.name, config.dataset.options);
  if (!dataset) return dataset.error();
  for (auto* split : {&dataset->private_train, &dataset->private_validation, &dataset->test}) {
    const auto columns = split->features.size(1) - kOrdinaryFeatures;
    split->features.narrow(1, kOrdinaryFeatures, columns).zero_();
  }
  return dataset;
}

// The last `count` records of the split; returns their rows.
std::vector<std::int64_t> place_canaries(datasets::SplitData& split, std::int64_t count, float size) {
  random::Draws labels(random::key_from_seed("labels of canaries"),
                       {.purpose = random::Purpose::synthetic_data});
  std::vector<std::int64_t> rows;
  for (std::int64_t j = 0; j < count; ++j) {
    const auto row = split.labels.size(0) - count + j;
    split.features[row].zero_();
    split.features[row][kOrdinaryFeatures + j] = size;
    split.labels[row] = static_cast<std::int64_t>(labels.below(kAuditClasses));
    rows.push_back(row);
  }
  return rows;
}

Result<Experiment> with_canaries(const audit::Request& request, std::int64_t count, float size) {
  auto config = config_of(request, count);
  if (!config) return config.error();
  auto dataset = ordinary_records(*config);
  if (!dataset) return dataset.error();
  auto rows = place_canaries(dataset->private_train, count, size);
  return Experiment{std::move(*config), std::move(*dataset), std::move(rows)};
}

}  // namespace

Result<Experiment> full_experiment(const audit::Request& request) {
  return with_canaries(request, request.canaries, kCanarySize);
}

Result<std::optional<Experiment>> sparse_experiment(const audit::Request& given) {
  const double records = std::round(1 / given.plan.sample_rate);
  if (given.plan.sample_rate > 0.5 || !(records < static_cast<double>(given.plan.population))) {
    return std::optional<Experiment>();
  }
  audit::Request request = given;
  auto& plan = request.plan;
  plan.population = static_cast<std::int64_t>(records);
  plan.batch_size = plan.sample_rate * records;
  if (plan.probe) {
    plan.probe->batch_size =
        (plan.probe->separate_batch ? plan.probe->sample_rate : plan.sample_rate) * records;
  }
  // Vectors of released gradients are compared over all runs, so the model has the full setting's
  // size.
  auto config = config_of(request, given.canaries);
  if (!config) return config.error();
  auto dataset = ordinary_records(*config);
  if (!dataset) return dataset.error();
  return std::optional(Experiment{std::move(*config), std::move(*dataset), {}});
}

Result<Experiment> one_run_experiment(const audit::Request& request, const std::vector<bool>& present) {
  auto experiment = with_canaries(request, static_cast<std::int64_t>(present.size()), kOneRunCanarySize);
  if (!experiment) return experiment.error();
  for (std::size_t j = 0; j < present.size(); ++j) {
    if (present[j]) continue;
    experiment->dataset.private_train.features[experiment->canaries[j]].fill_(
        std::numeric_limits<float>::quiet_NaN());
  }
  return experiment;
}

}  // namespace hyfreedp::training
