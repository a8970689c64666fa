#include "harness/runner/spec/mistakes/spec_examples.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "harness/base/text.h"

namespace hyfreedp::runner {
namespace {

// Writes the value as a person does: 0.9 and [0.1, 1], not 9E-1.
std::string written(const json::value& value) {
  if (value.is_string()) return value.get_string().empty() ? "\"\"" : std::string(value.get_string());
  if (value.is_double()) return fmt::format("{}", value.get_double());
  if (!value.is_array()) return json::serialize(value);
  std::vector<std::string> parts;
  for (const auto& element : value.get_array()) parts.push_back(written(element));
  return fmt::format("[{}]", join(parts, ", "));
}

}  // namespace

std::string without_places(const std::string& path) {
  std::string plain;
  bool is_inside = false;
  for (const char c : path) {
    if (c == '[') is_inside = true;
    if (!is_inside) plain += c;
    if (c == ']') is_inside = false;
  }
  for (const std::string outer : {"defaults.", "panels."}) {
    if (plain.starts_with(outer)) return plain.substr(outer.size());
  }
  return plain;
}

const std::map<std::string, std::string>& spec_examples() {
  static const std::map<std::string, std::string> examples = {
      {"name", "name: my-table"},
      {"title", "title: What a person reads"},
      {"description", "description: A sentence for the report."},
      {"noise_seed", "noise_seed: my-table-1"},
      {"defaults", "defaults: {seeds: [0, 1, 2]}"},
      {"dataset", "dataset: {name: synthetic, train: 2000}"},
      {"dataset.name", "name: synthetic"},
      {"ood_test", "ood_test: [{id: nearer, dataset: {name: synthetic, separation: 1}}]"},
      {"ood_test.id", "id: nearer"},
      {"ood_test.dataset", "dataset: {name: synthetic, separation: 1}"},
      {"ood_test.dataset.name", "name: synthetic"},
      {"model", "model: linear"},
      {"model.name", "name: linear"},
      {"seeds", "seeds: [0, 1, 2]"},
      {"seeds.until", "until: paired interval of hyfreedp - prodigy excludes 0"},
      {"seeds.from", "from: 4"},
      {"seeds.to", "to: 20"},
      {"seeds.confidence", "confidence: 0.95"},
      {"epsilon", "epsilon: [1, 3, inf]"},
      {"noise_multiplier", "noise_multiplier: [2, 4, 8]"},
      {"delta", "delta: N^-1.1"},
      {"accountant", "accountant: rdp"},
      {"train", "train: {sample_rate: 0.05, steps: 100, optimizer: adamw}"},
      {"train.sampler", "sampler: poisson"},
      {"train.sample_rate", "sample_rate: 0.05"},
      {"train.batch_size", "batch_size: 100"},
      {"train.steps", "steps: 100"},
      {"train.optimizer", "optimizer: adamw"},
      {"train.optimizer.name", "name: adamw"},
      {"train.clipping", "clipping: auto-s"},
      {"train.clipping_constant", "clipping_constant: 0.01"},
      {"evaluate", "evaluate: {every: 25}"},
      {"evaluate.every", "every: 25"},
      {"footnotes", "footnotes: [One seed is enough here.]"},
      {"rows", "rows: [prodigy, {method: fixed-rate, options: {lr: 0.01}}]"},
      {"rows.id", "id: my-row"},
      {"rows.use", "use: prodigy"},
      {"rows.method", "method: prodigy"},
      {"rows.title", "title: My row"},
      {"rows.epsilon", "epsilon: [1, 3]"},
      {"rows.seeds", "seeds: [0]"},
      {"rows.steps", "steps: 50"},
      {"rows.footnote", "footnote: One seed is enough here."},
      {"rows.footnotes", "footnotes: [One seed is enough here.]"},
      {"rows.options", "options: {lr: 0.01}"},
      {"rows.control", "control: sampling-only"},
      {"rows.train", "train: {optimizer: adamw}"},
      {"rows.train.optimizer", "optimizer: adamw"},
      {"rows.each", "each: {options.lr: [0.001, 0.01]}"},
      {"rows.group", "group: my-rows"},
      {"panels", "panels: [{id: one}]"},
      {"id", "id: one"},
      {"table", "table: {ranks: true}"},
      {"figures", "figures: [{kind: curves}]"},
      {"figures.kind", "kind: curves"},
      {"figures.name", "name: my-figure"},
      {"figures.title", "title: My figure"},
      {"regress", "regress: {false_alarms_per_night: 0.05}"},
      {"regress.margin", "margin: {accuracy: 0.5}"},
      {"presets", "presets: {small: {seeds: [0]}}"},
      {"assumed", "assumed: [\"K = 5: the text's default\"]"},
      {"contradictions", "contradictions: [Table 2 says 5 and the text 10.]"},
      {"reproduces", "reproduces: {paper: hyfreedp, id: table 2}"},
      {"reproduces.paper", "paper: hyfreedp"},
      {"reproduces.id", "id: table 2"},
      {"paper", "paper: {row: [\"{row}\"], columns: [CIFAR10]}"},
      {"paper.table", "table: 2"},
      {"paper.row", "row: [\"{row}\"]"},
      {"paper.columns", "columns: [CIFAR10]"},
      {"not_runnable", "not_runnable: {reason: no such images here, datasets: [imagenet]}"},
      {"not_runnable.reason", "reason: no such images here"},
      {"analytic", "analytic: {name: mohapatra-table-1}"},
      {"analytic.name", "name: mohapatra-table-1"},
  };
  return examples;
}

std::string example_at(const std::string& path) {
  const auto found = spec_examples().find(without_places(path));
  return found == spec_examples().end() ? "" : found->second;
}

std::string example_line(const OptionSpec& option) {
  const auto line = [&](const std::string& value) { return option.name + ": " + value; };
  if (!option.default_value.is_null()) return line(written(option.default_value));
  const bool whole = option.type == OptionType::integer || option.type == OptionType::integer_list;
  const double number = std::clamp(whole ? 1.0 : 0.1, option.min, option.max);
  switch (option.type) {
    case OptionType::boolean:
      return line("true");
    case OptionType::text:
      return line("name");
    case OptionType::choice:
      return line(option.choices.front());
    case OptionType::integer:
    case OptionType::real:
      return line(fmt::format("{}", number));
    case OptionType::real_list:
    case OptionType::integer_list:
      return line(fmt::format("[{}]", number));
  }
  return line("?");
}

}  // namespace hyfreedp::runner
