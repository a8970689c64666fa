#include <fmt/format.h>

#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {
namespace {

const std::vector<OptionSpec>& evaluate_options() {
  static const std::vector<OptionSpec> table = {
      {.name = "every",
       .type = OptionType::integer,
       .default_value = 0,
       .help = "steps between evaluations on the test split; 0: at the end only",
       .min = 0,
       .max = 1e9},
      {.name = "gradient_norms",
       .type = OptionType::boolean,
       .default_value = false,
       .help = "quantiles of each batch's gradient norms and its clipped fraction; datasets of public data "
               "only"},
      {.name = "released_norms",
       .type = OptionType::boolean,
       .default_value = false,
       .help = "norms of each released gradient and of each change of the weights, for hyfreedp regress"},
      {.name = "noise_residual",
       .type = OptionType::boolean,
       .default_value = false,
       .help = "the noise's own squared norm, for hyfreedp regress; datasets of public data only"}};
  return table;
}

}  // namespace

std::vector<std::string> evaluate_keys() {
  std::vector<std::string> names;
  for (const auto& option : evaluate_options()) names.push_back(option.name);
  return names;
}

std::optional<json::object> read_evaluate(const Layers& evaluate, const datasets::Facts* dataset,
                                          Problems& problems) {
  auto options = options_from(evaluate_options(), evaluate, problems);
  if (!options || dataset == nullptr || dataset->public_train) return options;
  for (const auto& [key, shown] :
       {std::pair{"gradient_norms", "raw norms"}, std::pair{"noise_residual", "what the noise hides"}}) {
    if (!options->at(key).as_bool()) continue;
    problems.add(evaluate.find(key)->wrong(
        fmt::format("is for public data: it would show {} of the private examples of {}", shown,
                    dataset->name),
        ""));
  }
  return options;
}

}  // namespace hyfreedp::runner
