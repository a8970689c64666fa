#include "harness/trial/training_options.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::trial {
namespace {

// Options that another one switches on: without it they would say something that does not happen.
Result<void> check_dependent(const TrainingOptions& options, const std::string& where) {
  const bool averages = options.average != Average::none, copies = options.augmentation.copies > 0;
  const struct {
    const char* name;
    bool on;
    const char* needs;
  } dependents[] = {{"average_decay", options.average == Average::ema, "average: ema"},
                    {"average_from", averages, "average: ema or swa"},
                    {"augmentation_flip", copies, "augmentations: 1 or more"},
                    {"augmentation_shift", copies, "augmentations: 1 or more"},
                    {"augmentation_padding", copies, "augmentations: 1 or more"}};
  const auto given = options.to_json();
  for (const auto& dependent : dependents) {
    if (dependent.on || !given.contains(dependent.name)) continue;
    return error(fmt::format("{}: '{}' has no effect without {}.", where, dependent.name, dependent.needs));
  }
  return {};
}

constexpr const char* kProbePrecision = "probe_precision";
constexpr const char* kSame = "same";

OptionSpec probe_precision_option() {
  auto choices = names_of<Precision>();
  choices.insert(choices.begin(), kSame);
  return {.name = kProbePrecision,
          .type = OptionType::choice,
          .default_value = kSame,
          .help = "of the losses of learning-rate probes; same: as precision",
          .choices = choices};
}

}  // namespace

const std::vector<OptionSpec>& training_option_table() {
  static const auto table = [] {
    auto options = options_of<TrainingOptions>({
        {.name = "microbatch",
         .help = "samples in memory at once, copies included; 0: the model's own number",
         .min = 0,
         .max = 1 << 24},
        {.name = "average", .help = "average of the weights at which the model is evaluated"},
        {.name = "average_decay",
         .help = "of the exponential average, reached over min(decay, (1 + t) / (10 + t))",
         .min = 0,
         .max = 1},
        {.name = "average_from", .help = "first step whose weights are averaged", .min = 0, .max = 1e9},
        {.name = "augmentations",
         .help = "random copies of each image, averaged before clipping; 0: none",
         .min = 0,
         .max = 1024},
        {.name = "augmentation_flip", .help = "a copy is mirrored with probability 1/2"},
        {.name = "augmentation_shift",
         .help = "pixels by which a copy moves at most, each way",
         .min = 0,
         .max = 1024},
        {.name = "augmentation_padding", .help = "what comes into view at the border"},
        {.name = "precision",
         .help = "of activations and the weights they meet; norms, sums, noise and losses stay float32"},
        {.name = "tf32",
         .help = "TF32 products of forward and backward passes on a GPU; norms and sums stay float32"},
        {.name = "activation_checkpointing",
         .help = "computes each block of the network a second time instead of keeping its activations"},
    });
    options.push_back(probe_precision_option());
    return options;
  }();
  return table;
}

json::object TrainingOptions::to_json() const {
  json::object kept;
  description::add_members(*this, kept);
  if (probe_precision != precision) kept[kProbePrecision] = name_of(probe_precision);
  return kept;
}

Result<TrainingOptions> TrainingOptions::from_json(const json::object& object, const std::string& where) {
  const auto resolved = resolve_options(training_option_table(), object, where);
  if (!resolved) return resolved.error();
  TrainingOptions options;
  if (auto read = description::read_members(*resolved, where, options); !read) return read.error();
  const auto& probe = resolved->at(kProbePrecision);
  options.probe_precision =
      probe == kSame ? options.precision : hyfreedp::from_json<Precision>(probe, where).value();
  if (auto checked = check_dependent(options, where); !checked) return checked.error();
  return options;
}

std::vector<std::string> TrainingOptions::notes() const {
  std::vector<std::string> texts;
  const std::string since = average_from > 0 ? fmt::format(" from step {} on", average_from) : "";
  if (average == Average::ema) {
    texts.push_back(fmt::format("Evaluated at the exponential moving average of the weights{} (decay {}).",
                                since, short_number(average_decay, 8)));
  }
  if (average == Average::swa) {
    texts.push_back(fmt::format("Evaluated at the mean of the weights{}.", since));
  }
  if (augmentation.copies > 0) {
    texts.push_back(
        fmt::format("Each per-sample gradient is the mean over {} random cop{} of the image (moved by up to "
                    "{} pixels{}).",
                    augmentation.copies, augmentation.copies == 1 ? "y" : "ies", augmentation.shift,
                    augmentation.flip ? ", mirrored half the time" : ""));
  }
  if (precision == Precision::bf16) {
    texts.emplace_back("Computed in bfloat16 with float32 norms, sums and noise.");
  }
  if (tf32) texts.emplace_back("Matrix products in TF32 where the device has it.");
  if (probe_precision != precision) {
    texts.push_back("Losses of probes computed in " + name_of(probe_precision) + ".");
  }
  return texts;
}

}  // namespace hyfreedp::trial
