#include "baselines/single_step.h"

#include "baselines/search.h"
#include "harness/mechanism/set_optimizer.h"

namespace hyfreedp::baselines {
namespace {

struct SingleStepOptions {
  std::vector<double> rates = {1};
  std::string optimizer = "sgd";
};
BOOST_DESCRIBE_STRUCT(SingleStepOptions, (), (rates, optimizer))

std::vector<trial::TrialConfig> candidates(const Cell& cell) {
  const auto options = read_options<SingleStepOptions>(cell.options);
  std::vector<trial::TrialConfig> configs;
  for (const double rate : options.rates) {
    auto config = at_rate(cell, 0, rate);
    config.steps = 1;
    config.privacy = on_full_batches(config.privacy);
    mechanism::set_optimizer(config, optimizer(options.optimizer, {}));
    if (auto* init = config.model.options.if_contains("init")) *init = "zero";
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace

Baseline single_step() {
  Baseline baseline{
      .name = "single-step",
      .title = "Single step",
      .source = "Mehta et al. 2022, arXiv:2205.02973",
      .summary = "One full-batch step from a zero last layer at a public rate; nothing is tuned.",
      .optimizer = "sgd",
      .options = options_of<SingleStepOptions>(
          {grid_option("rates", "learning rates to try; a single one needs no tuning"),
           {.name = "optimizer", .help = "optimizer that makes the step", .choices = {"sgd", "adam"}}}),
      .next = {},
      .conclude = {}};
  offer_tunings(baseline, Tuning::composed, candidates, [](const json::object& options) {
    return std::ssize(read_options<SingleStepOptions>(options).rates);
  });
  return baseline;
}

}  // namespace hyfreedp::baselines
