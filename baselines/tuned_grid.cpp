#include "baselines/tuned_grid.h"

#include <algorithm>
#include <utility>

#include "baselines/run_count.h"
#include "harness/mechanism/set_optimizer.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines {
namespace {

using Configs = std::vector<trial::TrialConfig>;

struct GridOptions {
  std::vector<double> rates, momenta;  // empty: none to tune
  std::vector<double> thresholds;
  std::int64_t candidates = 0;  // 0: all
};
BOOST_DESCRIBE_STRUCT(GridOptions, (), (rates, momenta, thresholds, candidates))

std::vector<OptionSpec> grid_options(const TunedGrid& grid) {
  std::vector<OptionSpec> table;
  if (!grid.rates.empty()) table.push_back(grid_option("rates", "learning rates"));
  if (!grid.momenta.empty()) {
    table.push_back(ranged_option("momenta", 1e-12, 1 - 1e-12, "decays of the momentum buffer"));
  }
  table.push_back(grid_option("thresholds", grid.clips));
  table.push_back(ranged_option("candidates", 0, 1e6,
                                "number of candidates drawn from the grid without replacement; 0: all"));
  return options_of<GridOptions>(
      std::move(table), {.rates = grid.rates, .momenta = grid.momenta, .thresholds = grid.thresholds});
}

std::vector<OptionSpec> own_options(const TunedGrid& grid) {
  auto options = optimizers::find_optimizer(grid.optimizer).value()->options;
  std::erase_if(options,
                [&](const auto& option) { return std::ranges::count(grid.hidden, option.name) > 0; });
  return options;
}

// A list of one value where there is none to tune.
std::vector<double> values_of(const std::vector<double>& tuned, bool is_tuned, double untuned) {
  return is_tuned ? tuned : std::vector<double>{untuned};
}

// `count` of them, without replacement, in the order drawn; all where there are no more.
Configs drawn(const Cell& cell, Configs all, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(all.size());
  if (count <= 0 || count >= size) return all;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto other = i + pick(draw(cell, "grid candidate", i), size - i);
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(other)]);
  }
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  return all;
}

Configs candidates_of(const Cell& cell, const TunedGrid& grid) {
  const auto options = read_options<GridOptions>(cell.options);
  auto own = subset(cell.options, own_options(grid));
  Configs all;
  for (const double rate : values_of(options.rates, !grid.rates.empty(), 1)) {
    for (const double momentum : values_of(options.momenta, !grid.momenta.empty(), 0)) {
      if (!grid.momenta.empty()) own["momentum"] = momentum;
      for (const double threshold : options.thresholds) {
        auto config = at_rate(cell, 0, rate);
        config.privacy = with_threshold(config.privacy, threshold);
        mechanism::set_optimizer(config, optimizer(grid.optimizer, own));
        all.push_back(std::move(config));
      }
    }
  }
  return drawn(cell, std::move(all), options.candidates);
}

}  // namespace

const std::vector<double>& mohapatra_rates() {
  static const std::vector<double> grid = {1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 1e-1, 2e-1, 5e-1, 1};
  return grid;
}

void make_tuned_grid(Baseline& baseline, const TunedGrid& grid) {
  baseline.source = "Mohapatra et al., AAAI 2022, sections 3 to 5";
  baseline.optimizer = grid.optimizer;
  baseline.options = grid_options(grid);
  for (auto& option : own_options(grid)) baseline.options.push_back(std::move(option));
  offer_tunings(
      baseline, grid.tuning, [grid](const Cell& cell) { return candidates_of(cell, grid); },
      [grid](const json::object& resolved) {
        const auto options = read_options<GridOptions>(resolved);
        const auto all = std::ssize(options.thresholds) *
                         std::ssize(values_of(options.rates, !grid.rates.empty(), 1)) *
                         std::ssize(values_of(options.momenta, !grid.momenta.empty(), 0));
        return options.candidates > 0 ? std::min<std::int64_t>(all, options.candidates) : all;
      });
}

}  // namespace hyfreedp::baselines
