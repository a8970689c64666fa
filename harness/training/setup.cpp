#include "harness/training/setup.h"

#include <ATen/Context.h>
#include <algorithm>
#include <cmath>

#include "harness/kernels/kernels.h"
#include "harness/mechanism/releases.h"
#include "harness/mechanism/run_check.h"
#include "harness/models/facts/microbatch.h"
#include "harness/training/cuda_settings.h"
#include "harness/training/slopes.h"
#include "optimizers/facts.h"

namespace hyfreedp::training {
namespace {

template <class T>
using Checked = boost::system::result<T, SetupFailure>;

SetupFailure invalid(const std::string& message) { return {"invalid-config", message}; }

Checked<datasets::Sizes> public_sizes(const trial::TrialConfig& config) {
  const auto facts = datasets::find_dataset(config.dataset.name);
  if (!facts) return invalid(facts.error().message);
  return datasets::sizes(**facts, config.dataset.options);
}

// N prices the run and q draws from N rows, so the data must be what was declared.
Checked<void> check_data(const trial::TrialConfig& config, const datasets::Sizes& sizes,
                         const datasets::Dataset& dataset) {
  const auto& train = dataset.private_train;
  if (config.privacy.population != train.features.size(0)) {
    return invalid("the privacy plan's population is " + std::to_string(config.privacy.population) +
                   " but '" + config.dataset.name + "' has " + std::to_string(train.features.size(0)) +
                   " training examples.");
  }
  // A released score is divided by the size of its split, which must be the public one.
  if (sizes.private_validation != dataset.private_validation.features.size(0)) {
    return invalid("'" + config.dataset.name + "' is declared with " +
                   std::to_string(sizes.private_validation) + " validation examples but has " +
                   std::to_string(dataset.private_validation.features.size(0)) + ".");
  }
  if (auto labels = check_labels(config, sizes, dataset); !labels) return invalid(labels.error().message);
  return {};
}

// Each is what its dataset's facts say, and is a test split alone.
Checked<void> check_ood_test(const trial::TrialConfig& config, const datasets::Sizes& sizes,
                             const std::vector<datasets::SplitData>& ood_test) {
  if (ood_test.size() != config.ood_test.size()) {
    return invalid("the config names " + std::to_string(config.ood_test.size()) +
                   " sets of ood_test, and the run was given " + std::to_string(ood_test.size()) + ".");
  }
  for (std::size_t i = 0; i < ood_test.size(); ++i) {
    const auto& [id, dataset] = config.ood_test[i];
    const auto facts = datasets::find_dataset(dataset.name);
    if (!facts) return invalid(facts.error().message);
    const auto declared = datasets::sizes(**facts, dataset.options);
    if (auto fits = datasets::check_ood_test(id, declared, sizes); !fits)
      return invalid(fits.error().message);
    const auto& split = ood_test[i];
    if (split.features.size(0) != declared.test || split.labels.size(0) != declared.test) {
      return invalid("the ood_test '" + id + "' is declared with " + std::to_string(declared.test) +
                     " test examples but has " + std::to_string(split.features.size(0)) + ".");
    }
    if (auto labels = check_labels(id, sizes, {&split}); !labels) return invalid(labels.error().message);
  }
  return {};
}

// Probes are booked by the plan and asked for by the controller: the two must name the same steps
// and the same number of losses.
Checked<void> check_probes(const trial::TrialConfig& config,
                           const optimizers::LearningRateController& controller) {
  const auto planned = mechanism::releases(config.privacy);
  const auto* probe = mechanism::find(planned, mechanism::kProbe);
  for (std::int64_t step = 0; step < config.steps; ++step) {
    if (controller.wants_probe(step) == (probe != nullptr && probe->schedule.has(step))) continue;
    return invalid("the privacy plan probes every " + std::to_string(probe->schedule.every) +
                   " steps but controller '" + config.controller.name +
                   "' has another interval: they part at step " + std::to_string(step) +
                   ". Give both the same interval.");
  }
  if (probe == nullptr) return {};
  const auto asked = static_cast<std::int64_t>(controller.request(0).abscissas.size());
  if (asked != probe->values) {
    return invalid("the privacy plan has " + std::to_string(probe->values) +
                   " losses a probe but controller '" + config.controller.name + "' asks for " +
                   std::to_string(asked) + ". Give both the same number.");
  }
  return {};
}

}  // namespace

Checked<torch::Device> find_device(const std::string& name) {
  begin_without_tf32();
  if (name == "cpu") return torch::Device(torch::kCPU);
  if (name != "cuda") return invalid("device '" + name + "' is not known; use cpu or cuda.");
  if (!at::hasCUDA()) {
    const std::string why = kernels::built_with_cuda()
                                ? "this machine shows no usable GPU (is there a driver?)"
                                : "this program was built without CUDA, so it uses no GPU";
    return SetupFailure{"device-unavailable",
                        "The run asks for device 'cuda', but " + why +
                            ". Leave out --device cuda, or set device: cpu in the spec."};
  }
  use_deterministic_kernels();
  return torch::Device(torch::kCUDA);
}

Checked<Setup> set_up(const trial::TrialConfig& config, const datasets::Dataset& dataset,
                      const std::vector<datasets::SplitData>& ood_test) {
  const auto sizes = public_sizes(config);
  if (!sizes) return sizes.error();
  if (auto fits = mechanism::check_run(config, *sizes); !fits) return invalid(fits.error().message);
  const auto dtype = config.dtype == "float64" ? torch::kFloat64 : torch::kFloat32;
  const auto device = find_device(config.device);
  if (!device) return device.error();
  if (auto data = check_data(config, *sizes, dataset); !data) return data.error();
  if (auto shifted = check_ood_test(config, *sizes, ood_test); !shifted) return shifted.error();

  auto optimizer = optimizers::make_optimizer(config.optimizer.name, config.optimizer.options);
  if (!optimizer) return invalid(optimizer.error().message);
  auto controller = optimizers::make_controller(config.controller.name, config.controller.options);
  if (!controller) return invalid(controller.error().message);

  const auto microbatch = models::microbatch_of(config.model.name, config.training.microbatch);
  if (!microbatch) return invalid(microbatch.error().message);
  const auto options = torch::TensorOptions().dtype(dtype).device(*device);
  const auto key = random::key_from_seed("initialisation/" + std::to_string(config.seed));
  const auto compute = config.training.precision == trial::Precision::bf16 ? torch::kBFloat16 : dtype;
  auto network = models::make_model(config.model.name, config.model.options, models::model_input(*sizes), key,
                                    options, compute);
  if (!network) return invalid(network.error().message);
  network->checkpoint_blocks(config.training.activation_checkpointing);
  const auto& moved = config.training.augmentation;
  auto augmentation =
      moved.copies > 0 ? std::optional<Augmentation>(std::in_place, moved, sizes->image) : std::nullopt;
  const bool follows_losses = config.privacy.released == trial::Released::loss_change;
  const auto zeroth_order =
      follows_losses ? std::optional(read_options<optimizers::DpZoOptions>(config.optimizer.options))
                     : std::nullopt;
  const auto& labels = rule_of(sizes->labels);
  std::optional<WrittenTask> written;
  if (config.evaluation.recorded.written) {
    auto task = written_task(config, *sizes, dataset.test);
    if (!task) return invalid(task.error().message);
    written = std::move(*task);
  }
  std::vector<BatchReader> shifted;
  shifted.reserve(ood_test.size());
  for (const auto& split : ood_test) shifted.emplace_back(aligned(labels, split), options, *microbatch);
  return Setup{.options = options,
               .input = models::model_input(*sizes),
               .sizes = *sizes,
               .network = std::move(*network),
               .optimizer = std::move(*optimizer),
               .controller = std::move(*controller),
               .clipping = rounded_clipping(config.privacy, dtype),
               .sum_type = sum_type(config.privacy, dtype),
               .augmentation = augmentation,
               .zeroth_order = zeroth_order,
               .labels = labels,
               .train = BatchReader(aligned(labels, dataset.private_train), options, *microbatch),
               .validation = BatchReader(aligned(labels, dataset.private_validation), options, *microbatch),
               .test = BatchReader(aligned(labels, dataset.test), options, *microbatch),
               .ood_test = std::move(shifted),
               .written = std::move(written)};
}

Checked<void> begin_run(const trial::TrialConfig& config, Setup& setup) {
  const auto datasets_sizes = public_sizes(config);
  if (!datasets_sizes) return datasets_sizes.error();
  std::vector<optimizers::TrainedLayer> layers;
  if (setup.controller->follows_slopes()) {
    auto trained = trained_layers(config, setup.network, setup.input);
    if (!trained) return invalid(trained.error().message);
    layers = std::move(*trained);
  }
  setup.controller->begin({.steps = config.steps,
                           .dimension = setup.network.dimension(),
                           .classes = datasets_sizes->classes,
                           .layers = std::move(layers)});
  if (auto agree = check_probes(config, *setup.controller); !agree) return agree.error();

  optimizers::Layout layout;
  for (const auto& slice : setup.network.layout()) layout.push_back({slice.name, slice.offset, slice.size});
  const double sensitivity = config.privacy.clipping.sensitivity();
  setup.optimizer->begin(setup.network.parameters(), layout,
                         {.noise_multiplier = config.privacy.gradient_noise,
                          .sensitivity = std::isfinite(sensitivity) ? sensitivity : 1.0,
                          .batch_size = config.privacy.batch_size,
                          .steps = config.steps});
  return {};
}

}  // namespace hyfreedp::training
