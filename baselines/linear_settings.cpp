#include "baselines/linear_settings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "baselines/calibrations.h"
#include "baselines/support.h"
#include "harness/accounting/calibration_search.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "optimizers/facts.h"

namespace hyfreedp::baselines::linear_search {
namespace {

namespace rule = linear_rule;

constexpr const char* kSweeps[] = {"first sweep", "second sweep", "third sweep"};

Failure contradiction(std::string message) { return {"invalid-options", std::move(message)}; }

// The epsilon of one run of each sweep.
std::vector<double> sweep_epsilons_of(const Cell& cell, const Options& options) {
  if (options.has_one_search()) return options.sweep_epsilons;
  std::vector<double> shares{options.share1, options.share2};
  if (options.sweeps() == 3) shares.push_back(options.share3);
  for (double& share : shares) share *= cell.epsilon.value_or(1);
  return shares;
}

std::optional<Failure> conflict_of_sweeps(const Cell& cell, const Options& options) {
  const auto epsilons = sweep_epsilons_of(cell, options);
  if (epsilons.size() != options.sweeps()) {
    return contradiction(fmt::format("'sweep_epsilons' needs one epsilon for each of the {} sweeps, not {}.",
                                     options.sweeps(), epsilons.size()));
  }
  if (std::set<double>(epsilons.begin(), epsilons.end()).size() != epsilons.size()) {
    return contradiction(
        "The sweeps' epsilons (their shares of the row's) must differ, or there is no line through them.");
  }
  return std::nullopt;
}

// The grids of the authors' script: learning rates .15 decades apart up to eta_max, lengths 5
// apart.
void fill_grids(rule::Space& space) {
  for (int i = 0; space.eta_min * std::pow(10, 0.15 * i) < space.eta_max * (1 - 1e-9); ++i) {
    space.eta_grid.push_back(space.eta_min * std::pow(10, 0.15 * i));
  }
  space.eta_grid.push_back(space.eta_max);
  for (auto steps = space.t_min; steps <= space.t_max; steps += 5) space.t_grid.push_back(steps);
}

rule::Space space_of(const Options& options) {
  rule::Space space{.eta_min = options.eta_min,
                    .eta_max = options.eta_max,
                    .t_min = options.t_min,
                    .t_max = options.t_max,
                    .r_cap = options.r_max,
                    .tolerance = options.tolerance,
                    .max_tries = options.max_tries};
  if (options.decompose == Split::rejection) space.decompose = rule::Decompose::rejection;
  if (options.decompose == Split::fixed_eta) {
    space.decompose = rule::Decompose::fixed_eta;
    space.eta_min = space.eta_max;
  }
  if (options.decompose == Split::fixed_t) space.t_min = space.t_max;
  fill_grids(space);
  return space;
}

std::optional<Failure> conflict_of_product(const Cell& cell, const Options& options) {
  const bool whole = options.product == Product::eta_t_b_c;
  const auto clipping = cell.base.privacy.clipping.rule;
  if (!whole && !(options.batch_sizes.empty() && options.thresholds.empty())) {
    return contradiction("'batch_sizes' and 'thresholds' are drawn with product: eta-t-b-c only.");
  }
  if (!options.batch_sizes.empty() && options.batch != Batch::sampled) {
    return contradiction("'batch_sizes' needs batch: sampled; a full batch has one size.");
  }
  for (const double size : options.batch_sizes) {
    if (size >= 1 && size <= static_cast<double>(cell.base.privacy.population)) continue;
    return contradiction(
        fmt::format("'batch_sizes' must lie between 1 and the training split's size {}; {} does not.",
                    cell.base.privacy.population, short_number(size)));
  }
  if (!options.thresholds.empty() && clipping != trial::ClippingRule::abadi) {
    return contradiction("'thresholds' needs clipping: abadi, which has a threshold C to draw.");
  }
  if (whole && clipping == trial::ClippingRule::adaptive) {
    return contradiction("product: eta-t-b-c needs a threshold that stays; clipping: adaptive moves it.");
  }
  return std::nullopt;
}

const char* head_option(const Cell& cell) {
  const auto& name = cell.base.model.name;
  return name == "linear" ? "init" : name == "mlp" ? "last_layer" : nullptr;
}

// Above the exact value by more than rounding, so that the composed epsilon never passes its
// target. An error where the clip counts of adaptive clipping, or the feature mean, leave nothing
// for the gradients.
Result<double> full_batch_noise(const Cell& cell, std::int64_t steps, double mu) {
  if (const double before = noise_before(cell); before > 0) {
    const double left = mu * mu - 1 / (before * before);
    if (!(left > 0)) {
      return error(
          fmt::format("What a run releases before its first step alone costs its whole budget: its noise "
                      "multiplier is {} and must be above {}; raise it in the spec's 'train'.",
                      short_number(before), short_number(1 / mu)));
    }
    mu = std::sqrt(left);
  }
  return mechanism::gradient_noise_for(on_full_batches(cell.base.privacy),
                                       rule::sigma(steps, mu) * (1 + 1e-12));
}

double element(const std::vector<double>& list, double uniform) {
  const auto index = static_cast<std::size_t>(uniform * static_cast<double>(list.size()));
  return list[std::min(index, list.size() - 1)];
}

// The run's plan without noise, which depends on no result.
trial::PrivacyPlan bare_plan(const Cell& cell, const Settings& settings, Place place) {
  const auto& options = settings.options;
  auto plan = options.batch == Batch::sampled ? cell.base.privacy : on_full_batches(cell.base.privacy);
  const auto name = stage_name(settings, place.stage);
  const auto drawn = place.stage < settings.epsilons.size() ? searched_cell(cell) : cell;
  if (const auto& sizes = options.batch_sizes; !sizes.empty()) {
    plan = at_batch_size(plan, element(sizes, draw(drawn, name + " batch size", place.index)));
  }
  if (const auto& thresholds = options.thresholds; !thresholds.empty()) {
    plan.clipping.constant = element(thresholds, draw(drawn, name + " threshold", place.index));
  }
  return plan;
}

// The sampled search's noises, all of them known before the first run.
struct SampledNoise {
  std::vector<std::vector<double>> sigma;
  double epsilon_final = 0;
};

// `plan`: of a run, whose gradients are sampled and noised otherwise in each; `rates` of each
// stage's runs, the final one last; `shares`: what a run of each sweep costs.
Result<SampledNoise> solve_sampled(const trial::PrivacyPlan& plan,
                                   const std::vector<std::vector<double>>& rates,
                                   const std::vector<double>& shares, const std::int64_t& steps,
                                   const double& epsilon, const double& delta,
                                   const std::string& accountant) {
  SampledNoise noise;
  const auto run = [&](double rate, double sigma) {
    auto one = plan;
    one.sample_rate = rate;
    one.gradient_noise = sigma;
    return accounting::Events{.events = mechanism::events(one, 0, steps)};
  };
  const auto append = [](accounting::Events& to, const accounting::Events& from) {
    to.events.insert(to.events.end(), from.events.begin(), from.events.end());
  };
  accounting::Events sweeps;
  for (std::size_t stage = 0; stage < shares.size(); ++stage) {
    noise.sigma.emplace_back();
    for (const double rate : rates[stage]) {
      const auto one = accounting::calibrate([&](double sigma) { return run(rate, sigma); }, shares[stage],
                                             delta, accountant);
      if (!one) return one.error();
      noise.sigma.back().push_back(one->noise_multiplier);
      append(sweeps, run(rate, one->noise_multiplier));
    }
  }
  const double rate = rates.back().front();
  const auto whole = [&](double sigma) {
    auto events = sweeps;
    append(events, run(rate, sigma));
    return events;
  };
  const auto last = accounting::calibrate(whole, epsilon, delta, accountant);
  if (!last) return last.error();
  noise.sigma.push_back({last->noise_multiplier});
  const auto alone = accounting::epsilon_by(accountant, run(rate, last->noise_multiplier), delta,
                                            accounting::default_orders());
  if (!alone) return alone.error();
  noise.epsilon_final = alone->epsilon;
  return noise;
}

Result<void> fill_sampled(const Cell& cell, Settings& settings) {
  std::vector<std::vector<double>> rates;
  for (std::size_t stage = 0; stage <= settings.epsilons.size(); ++stage) {
    rates.emplace_back();
    const auto runs = stage < settings.epsilons.size() ? settings.options.runs_per_sweep : 1;
    for (std::int64_t i = 0; i < runs; ++i) {
      rates.back().push_back(bare_plan(cell, settings, {stage, i}).sample_rate);
    }
  }
  // Clip counts are taken off the gradients' noise afterwards.
  auto any_run = same_price(cell.base.privacy);
  any_run.drop_clipping();
  const auto noise = calibrated(cell, solve_sampled, any_run, rates, settings.epsilons, settings.space.t_max,
                                *cell.epsilon, cell.delta, cell.accountant);
  if (!noise) return noise.error();
  settings.noise = noise->sigma;
  settings.budget.epsilon_final = noise->epsilon_final;
  for (const double epsilon : settings.epsilons) {
    const auto mu = accounting::mu_of_epsilon(epsilon, cell.delta, cell.accountant);
    if (!mu) return mu.error();
    settings.budget.mu.push_back(*mu);
  }
  const auto mu = accounting::mu_of_epsilon(noise->epsilon_final, cell.delta, cell.accountant);
  if (!mu) return mu.error();
  settings.budget.mu_final = *mu;
  // Adaptive clipping's counts must leave something for the gradients.
  for (std::size_t stage = 0; stage < rates.size(); ++stage) {
    for (std::size_t i = 0; i < rates[stage].size(); ++i) {
      const auto plan = bare_plan(cell, settings, {stage, static_cast<std::int64_t>(i)});
      if (auto left = mechanism::gradient_noise_for(plan, settings.noise[stage][i]); !left)
        return left.error();
    }
  }
  return {};
}

Result<void> fill_full(const Cell& cell, Settings& settings) {
  const auto budget = rule::split_total(*cell.epsilon, cell.delta, settings.options.runs_per_sweep,
                                        settings.epsilons, cell.accountant);
  if (!budget) return budget.error();
  settings.budget = *budget;
  auto mus = budget->mu;
  mus.push_back(budget->mu_final);
  for (const double mu : mus) {
    if (auto noise = full_batch_noise(cell, settings.space.t_max, mu); !noise) return noise.error();
  }
  return {};
}

}  // namespace

Cell searched_cell(Cell cell) {
  if (read_options<Options>(cell.options).has_one_search()) cell.epsilon.reset();
  return cell;
}

std::string stage_name(const Settings& settings, std::size_t stage) {
  return stage < settings.epsilons.size() ? kSweeps[stage] : "final";
}

std::optional<Failure> conflict(const Cell& cell) {
  const auto options = read_options<Options>(cell.options);
  const auto space = space_of(options);
  if (space.eta_min > space.eta_max || space.t_min > space.t_max || space.r_min() > options.r_max) {
    return Failure{"empty-grid",
                   fmt::format("The search range is empty: a minimum of eta_min = {}, t_min = {} and their "
                               "product r is above its maximum of eta_max = {}, t_max = {} and r_max = {}.",
                               short_number(space.eta_min), space.t_min, short_number(space.eta_max),
                               space.t_max, short_number(options.r_max))};
  }
  if (auto wrong = conflict_of_sweeps(cell, options)) return wrong;
  if (options.batch == Batch::sampled && options.decompose != Split::fixed_t) {
    return contradiction(
        "batch: sampled needs decompose: fixed-t; no accountant prices sampled batches whose number follows "
        "from "
        "scores.");
  }
  if (options.head == Head::zero && head_option(cell) == nullptr) {
    return contradiction(
        fmt::format("head: zero is for models linear and mlp; {} has no such option.", cell.base.model.name));
  }
  return conflict_of_product(cell, options);
}

Result<void> check_shares(const json::object& resolved) {
  const auto options = read_options<Options>(resolved);
  const Options defaults;
  const bool third = options.share3 != defaults.share3;
  if (options.has_one_search() &&
      (options.share1 != defaults.share1 || options.share2 != defaults.share2 || third))
    return error("'share1', 'share2' and 'share3' are not read with 'sweep_epsilons'; leave them out.");
  if (third && options.sweeps() != 3)
    return error("'share3' is read only with fit: line-3 or quadratic, which have a third sweep.");
  return {};
}

bool is_unpriced(const json::object& options) {
  return read_options<Options>(options).score == Pick::train_unpriced;
}

Result<Settings> settings_of(const Cell& cell) {
  Settings settings{.options = read_options<Options>(cell.options)};
  const auto& options = settings.options;
  settings.space = space_of(options);
  settings.sgd["momentum"] = options.momentum;
  if (options.free_step) settings.sgd["free_step"] = true;
  const auto sgd = read_options<optimizers::SgdOptions>(settings.sgd);
  if (auto checked = optimizers::check_sgd(sgd); !checked) return checked.error();
  settings.epsilons = sweep_epsilons_of(cell, options);
  auto filled = options.batch == Batch::sampled ? fill_sampled(cell, settings) : fill_full(cell, settings);
  if (!filled) return filled.error();
  if (options.score == Pick::train_unpriced) return settings;
  const auto scores = static_cast<std::int64_t>(settings.epsilons.size()) * options.runs_per_sweep;
  if (auto checked = check_scores(cell, scores, options.scores.score_noise); !checked) return checked.error();
  return settings;
}

trial::PrivacyPlan plan_of(const Cell& cell, const Settings& settings, Place place, std::int64_t steps,
                           double mu) {
  auto plan = bare_plan(cell, settings, place);
  if (settings.options.batch == Batch::full) {
    plan.gradient_noise = full_batch_noise(cell, steps, mu).value();  // settings_of has asked
    return plan;
  }
  const double sigma = settings.noise[place.stage][static_cast<std::size_t>(place.index)];
  plan.gradient_noise = mechanism::gradient_noise_for(plan, sigma).value();  // as above
  return plan;
}

std::vector<OptionSpec> option_table() {
  std::vector<OptionSpec> table = {
      ranged_option("runs_per_sweep", 1, 100, "n"),
      ranged_option("share1", 1e-6, 1, "epsilon of a first-sweep run, over the target"),
      ranged_option("share2", 1e-6, 1, "epsilon of a second-sweep run, over the target"),
      later_option(
          ranged_option("share3", 1e-6, 1, "epsilon of a third-sweep run, with fit: line-3 or quadratic")),
      later_option(
          grid_option("sweep_epsilons",
                      "epsilon of a run of each sweep, in place of the shares: all epsilons of the row then "
                      "have one search, whose runs are trained once; each pays for it")),
      later_option(
          plain_option("fit", "r by a line through two sweeps, by least squares over three, by a parabola")),
      only_without("decompose", "uniform-both",
                   plain_option("range", "of r: as the authors' script, or all of it")),
      only_without("decompose", "uniform-both", plain_option("r_sampling", "of r in its range")),
      plain_option("axis", "what the line of r is drawn over"),
      plain_option("decompose",
                   "r into learning rate and steps: T drawn; both drawn until r is near; both drawn in the "
                   "sweeps, T in the final run; T = t_max; learning rate = eta_max"),
      ranged_option("eta_min", 1e-12, 1e6, "smallest learning rate; not read with decompose: fixed-eta"),
      ranged_option("eta_max", 1e-12, 1e6, "largest learning rate"),
      ranged_option("t_min", 1, 1e9, "fewest steps; not read with decompose: fixed-t"),
      ranged_option("t_max", 1, 1e9, "most steps"),
      ranged_option("r_max", 1e-12, 1e12, "largest r; never above eta_max t_max"),
      only_with("decompose", "rejection",
                ranged_option("tolerance", 1e-6, 1, "relative distance from r accepted")),
      only_with("decompose", "rejection",
                ranged_option("max_tries", 1, 1e6, "draws before the nearest grid point")),
      later_option(plain_option("batch", "all samples each step, or the panel's batches")),
      later_option(plain_option("product",
                                "what r is; with B and C, the rate on summed gradients is r / (T B C), and "
                                "eta_min and eta_max bound that rate times B C")),
      later_option(
          grid_option("batch_sizes", "eta-t-b-c: B of each run is drawn from these; none: the panel's")),
      later_option(
          grid_option("thresholds", "eta-t-b-c: C of each run is drawn from these; none: the panel's")),
      later_option(plain_option("head", "initial weights of the last layer")),
      later_option(
          plain_option("score",
                       "a sweep's pick: by noised validation scores, or as printed by un-noised training "
                       "accuracy, which is not priced (the row is an oracle)")),
      ranged_option("momentum", 0, 0.9999, "of SGD"),
      later_option(plain_option(
          "free_step", "each run takes one more step along the momentum after its last, without noise")),
  };
  for (auto& option :
       score_options([](OptionSpec one) { return only_without("score", "train-unpriced", std::move(one)); }))
    table.push_back(std::move(option));
  return options_of<Options>(std::move(table));
}

}  // namespace hyfreedp::baselines::linear_search
