#include "harness/runner/execute/run_memory.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

#include "baselines/support.h"
#include "datasets/cache_file.h"
#include "datasets/image_options.h"
#include "datasets/table_file.h"
#include "harness/base/text.h"
#include "harness/mechanism/set_optimizer.h"
#include "harness/models/facts/facts.h"
#include "harness/models/facts/microbatch.h"
#include "harness/models/facts/weights_source.h"
#include "harness/random/partition.h"
#include "harness/trial/checkpoint_size.h"
#include "optimizers/facts.h"

namespace hyfreedp::runner {
namespace {

constexpr double kFloat = 4;
constexpr double kNarrow = 2;
constexpr double kDouble = 8;
constexpr double kInteger = 8;
// A worker that has trained a linear head has used 145 MB beside its data; one idle 124 MB.
constexpr double kProcess = 200e6;
// Assumed, of LibTorch's CUDA libraries and the driver's context.
constexpr double kCudaProcess = 2e9;
constexpr double kCudaContext = 1e9;
// Images that wait to be resized, before and after (datasets/image_tables.cpp).
constexpr double kImagesAtOnce = 1 << 27;
// A number of a user's own table while it is read: its text, which has at most some 20 characters,
// and what it is.
constexpr double kReadNumber = 20 + kFloat;

// glibc's heap keeps the holes between freed blocks of up to 32 MB. A run of a language model has
// taken 1.5 times the memory that lived at once; an MLP and an EfficientNet took less than is said.
constexpr double kHoles = 1.6;

// The method whose runs are on parts of the training split.
constexpr const char* kTakesParts = "subset-tuning";

struct TableBytes {
  double host = 0;  // tables that are not mapped
  double device = 0;
  double mapped = 0;
  // Bytes needed to make the cache; 0: it is there, or there is none.
  double preparing = 0;
  double preparing_on_device = 0;
};

bool cache_is_there(const datasets::CacheFile& file) {
  std::error_code absent;
  return !file.path.empty() && std::filesystem::file_size(file.path, absent) == file.bytes && !absent;
}

// Feature vectors, copies included.
double vectors_of(const datasets::Sizes& sizes) {
  return static_cast<double>(sizes.copies * sizes.private_train + sizes.private_validation + sizes.test);
}

// The published records, which a reader has in memory, and the frozen network at its work. Its file
// is read on the machine, wherever it works.
Result<void> add_preparing(const datasets::Facts& facts, const json::object& options, bool on_cpu,
                           TableBytes& data) {
  double bytes = kProcess + kImagesAtOnce;
  json::object all;  // but a selection that has files of its own (datasets/emnist.h)
  if (const auto* split = options.if_contains("split")) all["split"] = *split;
  if (const auto plain = resolve_options(facts.options, all, facts.name); plain && !facts.own_records) {
    const auto published = datasets::sizes(facts, *plain);
    bytes += vectors_of(published) * static_cast<double>(published.features);
  } else if (facts.name == datasets::TableFile::kName) {
    const auto own = datasets::sizes(facts, options);
    bytes += vectors_of(own) * static_cast<double>(own.features) * kReadNumber;
  }
  if (datasets::uses_network(options)) {
    const auto frozen = datasets::frozen_network(options);
    if (!frozen) return frozen.error();
    const auto input = read_options<datasets::ImageOptions>(options).input();
    const auto network = models::step_memory(frozen->name, frozen->options, input, {.on_cpu = on_cpu});
    if (!network) return network.error();
    const auto images = static_cast<double>(datasets::frozen_images_at_once(input.features, on_cpu));
    const auto works = kFloat * (images * network->forward + network->fixed);
    bytes += kFloat * 2 * network->parameters;
    if (on_cpu) {
      bytes += works;
    } else {
      bytes += kCudaProcess;
      data.preparing_on_device = kCudaContext + kFloat * network->parameters + works;
    }
  }
  data.preparing = bytes;
  return {};
}

// Returns the memory of one of the datasets that the run loads.
Result<TableBytes> table_bytes(const trial::TrialConfig& config, const trial::Named& dataset, double number) {
  const auto found = datasets::find_dataset(dataset.name);
  if (!found) return found.error();
  const auto& facts = **found;
  const auto sizes = datasets::sizes(facts, dataset.options);
  const bool on_cpu = config.device == "cpu";
  const double records = vectors_of(sizes), values = records * static_cast<double>(sizes.features);
  const double labels = kInteger * records * static_cast<double>(std::max<std::int64_t>(1, sizes.length));
  const double table = values * (sizes.length > 0 ? kInteger : number) + labels;
  TableBytes data;
  const auto options = random::without_part(dataset.options);
  const auto cache = datasets::cache_file(facts, options, config.device);
  if (!cache) {
    // Data from files are in memory twice: as they were read, and as the table made of them.
    data.host = facts.files.empty() ? table : 2 * table;
    data.device = on_cpu ? 0 : table;
  } else {
    data.mapped = static_cast<double>(cache->bytes);
    const bool bytes = data.mapped < values * kFloat;
    if (on_cpu && !bytes && number > kFloat) data.host = table;
    if (!on_cpu) data.device = bytes ? values + labels : table;
    if (!cache_is_there(*cache)) {
      if (auto added = add_preparing(facts, options, on_cpu, data); !added) return added.error();
    }
  }
  // The part's records are copied, and those of the other part will be.
  const auto part = random::part_of(dataset.options);
  if (part && *part) data.host += cache ? data.mapped : table;
  if (config.privacy.asked.feature_mean) (on_cpu ? data.host : data.device) += values * number;
  return data;
}

// All are in memory at once. Each cache is made by itself, before the run.
Result<TableBytes> all_table_bytes(const trial::TrialConfig& config, double number) {
  TableBytes all;
  for (const auto& dataset : trial::datasets_of(config)) {
    const auto one = table_bytes(config, dataset, number);
    if (!one) return one.error();
    all.host += one->host;
    all.device += one->device;
    all.mapped += one->mapped;
    all.preparing = std::max(all.preparing, one->preparing);
    all.preparing_on_device = std::max(all.preparing_on_device, one->preparing_on_device);
  }
  return all;
}

// Forward passes alone, and no gradient (optimizers/dp_zo.h).
bool follows_losses(const trial::TrialConfig& config) {
  return config.privacy.released == trial::Released::loss_change;
}

// Vectors of d numbers beside the weights, in bytes for each of the d.
double vector_bytes(const trial::TrialConfig& config, double number) {
  double count = 2 + optimizers::kMostStateVectors;  // the released mean and the direction
  if (follows_losses(config)) {
    // The weights while others are in their place, then the step; on a GPU the direction beside it.
    const auto options = read_options<optimizers::DpZoOptions>(config.optimizer.options);
    count = (config.device == "cpu" ? 1 : 2) + (options.sgd.momentum > 0 ? 1 : 0);
  }
  if (config.training.average != trial::Average::none) ++count;
  if (config.evaluation.recorded.released_norms || config.evaluation.recorded.noise_residual) count += 2;
  // The clipped sum, or the sum of several microbatches.
  return count * number + (follows_losses(config) ? 0 : kDouble);
}

// Bytes where the network is.
struct NetworkBytes {
  double weights = 0;
  double training = 0;  // beside the weights
};

NetworkBytes network_bytes(const trial::TrialConfig& config, const models::StepMemory& step,
                           const datasets::Sizes& sizes, std::int64_t microbatch, double number) {
  const auto copies = std::max({std::int64_t{1}, config.training.augmentation.copies, sizes.copies});
  const auto samples =
      static_cast<double>(models::samples_at_once(microbatch, copies)) * static_cast<double>(copies);
  const bool narrow = config.training.precision == trial::Precision::bf16;
  const double holes = config.device == "cpu" && sizes.length > 0 ? kHoles : 1;
  const double sample =
      (follows_losses(config) ? step.forward : step.sample(narrow ? 0.5 : 1)) * number * holes;
  const double fixed = step.fixed - (follows_losses(config) ? step.sums : 0);
  // Sums of large batches are computed in float64 (harness/trial/sum_rounding.h), and any method
  // may choose such a batch.
  const double wide = config.privacy.is_private ? kDouble : number;
  const double vectors = step.trained * vector_bytes(config, number);
  // A checkpoint's copy has no more than these.
  const double copied = std::min(vectors, static_cast<double>(trial::kMostCopiedState));
  NetworkBytes bytes{.weights = step.parameters * number,
                     .training = vectors + copied + samples * sample + fixed * wide};
  // A microbatch's vectors as they lie in the table, and one copy after the other.
  if (sizes.copies > 1) bytes.training += 2 * samples * static_cast<double>(sizes.features) * number;
  // Weights are in each type that is computed in, and those that train in their own in any case.
  const bool probes_are_narrow = config.training.probe_precision == trial::Precision::bf16;
  if (narrow && probes_are_narrow) bytes.weights = step.trained * number;
  if (narrow || probes_are_narrow) bytes.weights += step.parameters * kNarrow;
  return bytes;
}

// The gradients, or the forward passes of probes.
bool computes_narrow(const trial::TrialConfig& config) {
  return config.training.precision == trial::Precision::bf16 ||
         config.training.probe_precision == trial::Precision::bf16;
}

// A file of weights is read on the machine, wherever the network is, before it trains.
double reading_bytes(const trial::TrialConfig& config, const models::StepMemory& step) {
  return models::weights_named(config.model.options).empty() ? 0 : 2 * step.parameters * kFloat;
}

}  // namespace

Result<RunMemory> memory_of(const trial::TrialConfig& config) {
  const auto facts = datasets::find_dataset(config.dataset.name);
  if (!facts) return facts.error();
  const auto sizes = datasets::sizes(**facts, config.dataset.options);
  const bool on_cpu = config.device == "cpu";
  const double number = config.dtype == "float64" ? kDouble : kFloat;
  const auto step = models::step_memory(config.model.name, config.model.options, models::model_input(sizes),
                                        {.on_cpu = on_cpu,
                                         .is_narrow = computes_narrow(config),
                                         .recomputes = config.training.activation_checkpointing});
  if (!step) return step.error();
  const auto microbatch = models::microbatch_of(config.model.name, config.training.microbatch);
  if (!microbatch) return microbatch.error();
  const auto data = all_table_bytes(config, number);
  if (!data) return data.error();
  const auto [weights, training] = network_bytes(config, *step, sizes, *microbatch, number);
  const double reading = reading_bytes(config, *step);
  RunMemory memory{.host = kProcess + data->host, .tables = data->host, .mapped = data->mapped};
  if (on_cpu) {
    memory.host += weights + std::max(training, reading);
  } else {
    memory.host += kCudaProcess + reading;
    memory.device = kCudaContext + data->device + weights + training;
  }
  memory.host = std::max(memory.host, data->preparing + data->host);
  memory.device = std::max(memory.device, data->preparing_on_device);
  return memory;
}

Result<RunMemory> largest_run(const std::vector<PlannedStudy>& studies) {
  RunMemory largest;
  std::map<std::string, double> tables;  // by dataset
  // Cells of a row differ in what needs no memory.
  std::set<std::string> seen;
  const PlannedStudy* before = nullptr;
  for (const auto& study : studies) {
    const bool is_same = before != nullptr && before->cell.panel == study.cell.panel &&
                         before->cell.row == study.cell.row &&
                         before->cell.base.privacy.is_private == study.cell.base.privacy.is_private;
    before = &study;
    if (is_same) continue;
    auto config = study.cell.base;
    if (study.baseline->name == kTakesParts) {
      config.dataset.options =
          random::with_part(std::move(config.dataset.options), {random::kTuningPart, 0.5, "any"});
    }
    if (!study.baseline->optimizer.empty()) {
      mechanism::set_optimizer(config, baselines::optimizer(study.baseline->optimizer, {}));
    }
    std::string data;
    for (const auto& [name, options] : trial::datasets_of(config)) data += name + canonical_json(options);
    const auto kind =
        fmt::format("{}/{}/{}/{}/{}", study.cell.panel, canonical_json(config.training.to_json()),
                    config.privacy.is_private, follows_losses(config), data);
    if (!seen.insert(kind).second) continue;
    const auto memory = memory_of(config);
    if (!memory) return in_context(study.cell.panel, memory.error());
    tables[data] = std::max(tables[data], memory->tables);
    largest.host = std::max(largest.host, memory->host - memory->tables);
    largest.device = std::max(largest.device, memory->device);
    largest.mapped = std::max(largest.mapped, memory->mapped);
  }
  for (const auto& [data, bytes] : tables) largest.tables += bytes;
  largest.host += largest.tables;
  return largest;
}

std::string memory_text(const RunMemory& largest, int workers, std::uint64_t machine) {
  const auto text = [](double bytes) { return bytes_text(static_cast<std::uint64_t>(bytes)); };
  std::string said;
  if (largest.device > 0) {
    said = fmt::format("Memory of the largest run on the GPU: about {} at most; {} at once: {}. ",
                       text(largest.device), counted(workers, "run"), text(workers * largest.device));
  }
  said += fmt::format("Memory of the largest run{}: about {} at most; {} at once: {} of {}.",
                      largest.device > 0 ? " on the machine" : "", text(largest.host),
                      counted(workers, "run"), text(workers * largest.host), bytes_text(machine));
  if (largest.mapped > 0) {
    said +=
        fmt::format(" Beside it {} are mapped from the cache, which all runs share.", text(largest.mapped));
  }
  return said;
}

Result<void> check_memory(const RunMemory& largest, std::uint64_t machine) {
  if (largest.host <= kMostOver * static_cast<double>(machine) + kMostBeside) return {};
  return error(
      fmt::format("The largest run needs up to {} of memory, and this machine has {}. Give `train` a smaller "
                  "`microbatch`, which changes no result beyond rounding, or run it on a larger machine.",
                  bytes_text(static_cast<std::uint64_t>(largest.host)), bytes_text(machine)));
}

int workers_that_fit(const RunMemory& largest, int workers, std::uint64_t machine) {
  const double fit = static_cast<double>(machine) / std::max(1.0, largest.host);
  return std::clamp(static_cast<int>(std::min(fit, 1e6)), 1, workers);
}

}  // namespace hyfreedp::runner
