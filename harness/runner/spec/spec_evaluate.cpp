#include <fmt/format.h>

#include "datasets/text_tokenizer.h"
#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {
namespace {

constexpr const char* kWritten = "written";

// Texts are made of tokens, and read with the dataset's own tokenizer.
void check_written(const Entry& written, const spec::Named& dataset, Problems& problems) {
  const auto facts = datasets::find_dataset(dataset.name);
  if (!facts) return;
  if (datasets::sizes(**facts, dataset.options).labels != datasets::LabelKind::tokens) {
    problems.add(
        written.wrong("is for language models; " + dataset.name + " has no texts that are continued", ""));
  } else if (!hyfreedp::read_options<datasets::TokenizerOptions>(dataset.options).tokenizer) {
    problems.add(written.wrong("needs a dataset with 'tokenizer', which makes texts of tokens", ""));
  }
}

const std::vector<OptionSpec>& evaluate_options() {
  static const auto table = options_of<spec::Evaluate>(
      {{.name = "every",
        .help = "steps between evaluations on the test split; 0: at the end only",
        .min = 0,
        .max = 1e9},
       {.name = "gradient_norms",
        .help = "quantiles of each batch's gradient norms and its clipped fraction; datasets of public data "
                "only"},
       {.name = "released_norms",
        .help = "norms of each released gradient and of each change of the weights, for hyfreedp regress"},
       {.name = "noise_residual",
        .help = "the noise's own squared norm, for hyfreedp regress; datasets of public data only"},
       {.name = "by_class",
        .help = "of test data also the mean accuracy over classes, the area under the ROC curve, Matthews' "
                "correlation and, of two classes, F1 of the second, for classes of unequal sizes; "
                "`table: {metric: macro-accuracy}`, `auc`, `mcc` or `f1` shows them"},
       {.name = "raw_losses",
        .help = "a probe's losses before clipping and before noise beside the released ones, for the figure "
                "probe-fit; datasets of public data only"},
       {.name = "training_split",
        .help =
            "loss and accuracy of the training split, too, whenever the test split is evaluated; datasets of "
            "public data only"},
       {.name = "distance",
        .help =
            "the distance of the weights from the initial ones before each step, as the scalar `distance`"}});
  return table;
}

}  // namespace

std::vector<std::string> evaluate_keys() {
  std::vector<std::string> names;
  for (const auto& option : evaluate_options()) names.push_back(option.name);
  names.emplace_back(kWritten);
  return names;
}

std::optional<spec::Evaluate> read_evaluate(const Layers& evaluate, const std::optional<spec::Named>& dataset,
                                            Problems& problems) {
  auto read = read_options<spec::Evaluate>(evaluate_options(), evaluate, problems, {kWritten});
  if (const auto given = evaluate.find(kWritten)) {
    const auto written =
        read_options<trial::GenerationOptions>(trial::generation_options(), Layers({*given}), problems);
    if (!written) return std::nullopt;
    if (read) read->recorded.written = *written;
  }
  if (!read || !dataset) return read;
  if (read->recorded.written) check_written(*evaluate.find(kWritten), *dataset, problems);
  if (const auto facts = datasets::find_dataset(dataset->name); read->recorded.by_class && facts) {
    if (datasets::sizes(**facts, dataset->options).labels != datasets::LabelKind::classes) {
      problems.add(evaluate.find("by_class")
                       ->wrong("is for samples with one class each; " + dataset->name + " has none", ""));
    }
  }
  if (datasets::training_split_is_public(dataset->name, dataset->options)) return read;
  const auto refuse = [&](bool asked, const char* key, const char* shown) {
    if (!asked) return;
    problems.add(evaluate.find(key)->wrong(
        fmt::format("is for public data: it would show {} of the private examples of {}", shown,
                    dataset->name),
        ""));
  };
  refuse(read->recorded.gradient_norms, "gradient_norms", "raw norms");
  refuse(read->recorded.noise_residual, "noise_residual", "what the noise hides");
  refuse(read->recorded.raw_losses, "raw_losses", "losses without noise");
  refuse(read->recorded.training_split, "training_split", "loss and accuracy without noise");
  return read;
}

}  // namespace hyfreedp::runner
