#include "harness/trial/training_options.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace hyfreedp::trial {
namespace {

std::string to_string(Average average) {
  return average == Average::ema ? "ema" : average == Average::swa ? "swa" : "none";
}

std::string to_string(Precision precision) { return precision == Precision::bf16 ? "bf16" : "float32"; }

std::string to_string(Padding padding) { return padding == Padding::zero ? "zero" : "reflect"; }

json::object all_of(const TrainingOptions& options) {
  const bool same = options.probe_precision == options.precision;
  return {{"microbatch", options.microbatch},
          {"average", to_string(options.average)},
          {"average_decay", number(options.average_decay)},
          {"average_from", options.average_from},
          {"augmentations", options.augmentation.copies},
          {"augmentation_flip", options.augmentation.flip},
          {"augmentation_shift", options.augmentation.shift},
          {"augmentation_padding", to_string(options.augmentation.padding)},
          {"precision", to_string(options.precision)},
          {"tf32", options.tf32},
          {"probe_precision", same ? "same" : to_string(options.probe_precision)}};
}

// Options that another one switches on: without it they would say something that does not happen.
Result<void> check_dependent(const json::object& object, const std::string& where) {
  const auto average = string_or(object, "average", "none");
  const auto copies = int_or(object, "augmentations", 0);
  const struct {
    const char* name;
    bool on;
    const char* needs;
  } dependents[] = {{"average_decay", average == "ema", "average: ema"},
                    {"average_from", average != "none", "average: ema or swa"},
                    {"augmentation_flip", copies > 0, "augmentations: 1 or more"},
                    {"augmentation_shift", copies > 0, "augmentations: 1 or more"},
                    {"augmentation_padding", copies > 0, "augmentations: 1 or more"}};
  for (const auto& option : training_option_table()) {
    const auto* given = object.if_contains(option.name);
    if (given == nullptr || *given == option.default_value) continue;
    for (const auto& dependent : dependents) {
      if (option.name == dependent.name && !dependent.on) {
        return error(fmt::format("{}: '{}' has no effect without {}.", where, option.name, dependent.needs));
      }
    }
  }
  return {};
}

}  // namespace

const std::vector<OptionSpec>& training_option_table() {
  static const std::vector<OptionSpec> table = {
      {.name = "microbatch",
       .type = OptionType::integer,
       .default_value = 0,
       .help = "samples in memory at once, copies included; 0: the model's own number",
       .min = 0,
       .max = 1 << 24},
      {.name = "average",
       .type = OptionType::choice,
       .default_value = "none",
       .help = "average of the weights at which the model is evaluated",
       .choices = {"none", "ema", "swa"}},
      {.name = "average_decay",
       .type = OptionType::real,
       .default_value = 0.9999,
       .help = "of the exponential average, reached over min(decay, (1 + t) / (10 + t))",
       .min = 0,
       .max = 1},
      {.name = "average_from",
       .type = OptionType::integer,
       .default_value = 0,
       .help = "first step whose weights are averaged",
       .min = 0,
       .max = 1e9},
      {.name = "augmentations",
       .type = OptionType::integer,
       .default_value = 0,
       .help = "random copies of each image, averaged before clipping; 0: none",
       .min = 0,
       .max = 1024},
      {.name = "augmentation_flip",
       .type = OptionType::boolean,
       .default_value = true,
       .help = "a copy is mirrored with probability 1/2"},
      {.name = "augmentation_shift",
       .type = OptionType::integer,
       .default_value = 4,
       .help = "pixels by which a copy moves at most, each way",
       .min = 0,
       .max = 1024},
      {.name = "augmentation_padding",
       .type = OptionType::choice,
       .default_value = "reflect",
       .help = "what comes into view at the border",
       .choices = {"reflect", "zero"}},
      {.name = "precision",
       .type = OptionType::choice,
       .default_value = "float32",
       .help = "of activations and the weights they meet; norms, sums, noise and losses stay float32",
       .choices = {"float32", "bf16"}},
      {.name = "tf32",
       .type = OptionType::boolean,
       .default_value = false,
       .help = "TF32 products of forward and backward passes on a GPU; norms and sums stay float32"},
      {.name = "probe_precision",
       .type = OptionType::choice,
       .default_value = "same",
       .help = "of the losses of learning-rate probes; same: as precision",
       .choices = {"same", "float32", "bf16"}},
  };
  return table;
}

json::object TrainingOptions::to_json() const {
  json::object kept;
  const auto all = all_of(*this);
  for (const auto& option : training_option_table()) {
    if (const auto& value = all.at(option.name); value != option.default_value) kept[option.name] = value;
  }
  return kept;
}

Result<TrainingOptions> TrainingOptions::from_json(const json::object& object, const std::string& where) {
  const auto resolved = resolve_options(training_option_table(), object, where);
  if (!resolved) return resolved.error();
  if (auto checked = check_dependent(*resolved, where); !checked) return checked.error();
  const auto text = [&](const char* key) { return string_or(*resolved, key, ""); };
  TrainingOptions options;
  options.microbatch = int_or(*resolved, "microbatch", 0);
  options.average = text("average") == "ema"   ? Average::ema
                    : text("average") == "swa" ? Average::swa
                                               : Average::none;
  options.average_decay = double_or(*resolved, "average_decay", 0);
  options.average_from = int_or(*resolved, "average_from", 0);
  options.augmentation = {
      .copies = int_or(*resolved, "augmentations", 0),
      .flip = bool_or(*resolved, "augmentation_flip", true),
      .shift = int_or(*resolved, "augmentation_shift", 0),
      .padding = text("augmentation_padding") == "zero" ? Padding::zero : Padding::reflect};
  options.precision = text("precision") == "bf16" ? Precision::bf16 : Precision::float32;
  options.tf32 = bool_or(*resolved, "tf32", false);
  const auto probe = text("probe_precision");
  options.probe_precision = probe == "same"   ? options.precision
                            : probe == "bf16" ? Precision::bf16
                                              : Precision::float32;
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
    texts.push_back("Losses of probes computed in " + to_string(probe_precision) + ".");
  }
  return texts;
}

}  // namespace hyfreedp::trial
