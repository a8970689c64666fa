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

// Options that came later are not stored where they have their default: the ids of earlier studies
// stay what they were.
OptionSpec later(OptionSpec option) {
  option.stored_always = false;
  return option;
}

std::vector<double> list_or_none(const json::object& options, const std::string& name) {
  return options.contains(name) ? list_of(options, name) : std::vector<double>{};
}

std::string split_of(const Cell& cell) { return string_or(cell.options, "decompose", "uniform-t"); }
bool is_sampled(const Cell& cell) { return string_or(cell.options, "batch", "full") == "sampled"; }
std::int64_t sweeps_of(const Cell& cell) { return string_or(cell.options, "fit", "line") == "line" ? 2 : 3; }

Failure contradiction(std::string message) { return {"invalid-options", std::move(message)}; }

// What a run of each sweep costs.
std::vector<double> sweep_epsilons_of(const Cell& cell) {
  if (has_one_search(cell.options)) return list_of(cell.options, "sweep_epsilons");
  std::vector<double> shares{double_or(cell.options, "share1", 0.1), double_or(cell.options, "share2", 0.2)};
  if (sweeps_of(cell) == 3) shares.push_back(double_or(cell.options, "share3", 0.3));
  for (double& share : shares) share *= cell.epsilon.value_or(1);
  return shares;
}

std::optional<Failure> conflict_of_sweeps(const Cell& cell) {
  const auto epsilons = sweep_epsilons_of(cell);
  if (static_cast<std::int64_t>(epsilons.size()) != sweeps_of(cell)) {
    return contradiction(fmt::format("'sweep_epsilons' needs one epsilon for each of the {} sweeps, not {}.",
                                     sweeps_of(cell), epsilons.size()));
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

rule::Space space_of(const Cell& cell) {
  const auto& options = cell.options;
  rule::Space space{.eta_min = double_or(options, "eta_min", 0.01),
                    .eta_max = double_or(options, "eta_max", 3.2),
                    .t_min = int_or(options, "t_min", 20),
                    .t_max = int_or(options, "t_max", 100),
                    .r_cap = double_or(options, "r_max", 64)};
  space.tolerance = double_or(options, "tolerance", 0.05);
  space.max_tries = int_or(options, "max_tries", 1000);
  const auto split = split_of(cell);
  if (split == "rejection") space.decompose = rule::Decompose::rejection;
  if (split == "fixed-eta") {
    space.decompose = rule::Decompose::fixed_eta;
    space.eta_min = space.eta_max;
  }
  if (split == "fixed-t") space.t_min = space.t_max;
  fill_grids(space);
  return space;
}

std::optional<Failure> conflict_of_product(const Cell& cell) {
  const auto batch_sizes = list_or_none(cell.options, "batch_sizes");
  const auto thresholds = list_or_none(cell.options, "thresholds");
  const bool whole = string_or(cell.options, "product", "eta-t") == "eta-t-b-c";
  const auto clipping = cell.base.privacy.clipping;
  if (!whole && !(batch_sizes.empty() && thresholds.empty())) {
    return contradiction("'batch_sizes' and 'thresholds' are drawn with product: eta-t-b-c only.");
  }
  if (!batch_sizes.empty() && !is_sampled(cell)) {
    return contradiction("'batch_sizes' needs batch: sampled; a full batch has one size.");
  }
  for (const double size : batch_sizes) {
    if (size >= 1 && size <= static_cast<double>(cell.base.privacy.population)) continue;
    return contradiction(
        fmt::format("'batch_sizes' must lie between 1 and the training split's size {}; {} does not.",
                    cell.base.privacy.population, short_number(size)));
  }
  if (!thresholds.empty() && clipping != trial::Clipping::abadi) {
    return contradiction("'thresholds' needs clipping: abadi, which has a threshold C to draw.");
  }
  if (whole && clipping == trial::Clipping::adaptive) {
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

// Without noise: nothing here depends on a result.
trial::PrivacyPlan bare_plan(const Cell& cell, const Settings& settings, Place place) {
  auto plan = settings.sampled ? cell.base.privacy : on_full_batches(cell.base.privacy);
  const auto name = stage_name(settings, place.stage);
  const auto drawn = place.stage < settings.epsilons.size() ? searched_cell(cell) : cell;
  if (const auto sizes = list_or_none(cell.options, "batch_sizes"); !sizes.empty()) {
    plan = at_batch_size(plan, element(sizes, draw(drawn, name + " batch size", place.index)));
  }
  if (const auto thresholds = list_or_none(cell.options, "thresholds"); !thresholds.empty()) {
    plan.clipping_constant = element(thresholds, draw(drawn, name + " threshold", place.index));
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
    const auto runs = stage < settings.epsilons.size() ? settings.n : 1;
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
  const auto budget =
      rule::split_total(*cell.epsilon, cell.delta, settings.n, settings.epsilons, cell.accountant);
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
  if (has_one_search(cell.options)) cell.epsilon.reset();
  return cell;
}

std::string stage_name(const Settings& settings, std::size_t stage) {
  return stage < settings.epsilons.size() ? kSweeps[stage] : "final";
}

std::optional<Failure> conflict(const Cell& cell) {
  const auto space = space_of(cell);
  if (space.eta_min > space.eta_max || space.t_min > space.t_max ||
      space.r_min() > double_or(cell.options, "r_max", 64)) {
    return Failure{"empty-grid", "The search range of eta, T and r is empty: a minimum exceeds its maximum."};
  }
  if (auto wrong = conflict_of_sweeps(cell)) return wrong;
  if (is_sampled(cell) && split_of(cell) != "fixed-t") {
    return contradiction(
        "batch: sampled needs decompose: fixed-t; no accountant prices sampled batches whose number follows "
        "from "
        "scores.");
  }
  if (string_or(cell.options, "head", "panel") == "zero" && head_option(cell) == nullptr) {
    return contradiction(
        fmt::format("head: zero is for models linear and mlp; {} has no such option.", cell.base.model.name));
  }
  return conflict_of_product(cell);
}

bool has_one_search(const json::object& options) { return !list_or_none(options, "sweep_epsilons").empty(); }

bool is_unpriced(const json::object& options) {
  return string_or(options, "score", "released") == "train-unpriced";
}

Result<Settings> settings_of(const Cell& cell) {
  const auto& options = cell.options;
  Settings settings{.space = space_of(cell)};
  settings.n = int_or(options, "runs_per_sweep", 3);
  settings.narrowed = string_or(options, "range", "narrowed") == "narrowed";
  settings.logarithmic = string_or(options, "r_sampling", "uniform") == "log-uniform";
  settings.over_mu = string_or(options, "axis", "epsilon") == "mu";
  settings.sampled = is_sampled(cell);
  settings.unpriced = is_unpriced(options);
  settings.draws_both = split_of(cell) == "uniform-both";
  settings.whole_product = string_or(options, "product", "eta-t") == "eta-t-b-c";
  if (string_or(options, "fit", "line") == "quadratic") settings.fit = rule::Fit::quadratic;
  settings.sgd["momentum"] = double_or(options, "momentum", 0.9);
  if (bool_or(options, "free_step", false)) settings.sgd["free_step"] = true;
  if (auto checked = optimizers::check_sgd(read_options<optimizers::SgdOptions>(settings.sgd)); !checked)
    return checked.error();
  settings.score_noise = double_or(options, "score_noise", 30);
  settings.epsilons = sweep_epsilons_of(cell);
  auto filled = settings.sampled ? fill_sampled(cell, settings) : fill_full(cell, settings);
  if (!filled) return filled.error();
  if (settings.unpriced) return settings;
  const auto scores = static_cast<std::int64_t>(settings.epsilons.size()) * settings.n;
  if (auto checked = check_scores(cell, scores, settings.score_noise); !checked) return checked.error();
  return settings;
}

trial::PrivacyPlan plan_of(const Cell& cell, const Settings& settings, Place place, std::int64_t steps,
                           double mu) {
  auto plan = bare_plan(cell, settings, place);
  if (!settings.sampled) {
    plan.gradient_noise = full_batch_noise(cell, steps, mu).value();  // settings_of has asked
    return plan;
  }
  const double sigma = settings.noise[place.stage][static_cast<std::size_t>(place.index)];
  plan.gradient_noise = mechanism::gradient_noise_for(plan, sigma).value();  // as above
  return plan;
}

std::vector<OptionSpec> options() {
  return {
      integer_option("runs_per_sweep", 3, 1, 100, "n"),
      real_option("share1", 0.1, 1e-6, 1, "epsilon of a first-sweep run, over the target"),
      real_option("share2", 0.2, 1e-6, 1, "epsilon of a second-sweep run, over the target"),
      later(
          real_option("share3", 0.3, 1e-6, 1, "epsilon of a third-sweep run, with fit: line-3 or quadratic")),
      later(
          grid_option("sweep_epsilons", {},
                      "epsilon of a run of each sweep, in place of the shares: all epsilons of the row then "
                      "have one search, whose runs are trained once; each pays for it")),
      later(choice_option("fit", {"line", "line-3", "quadratic"},
                          "r by a line through two sweeps, by least squares over three, by a parabola")),
      choice_option("range", {"narrowed", "full"}, "of r: as the authors' script, or all of it"),
      choice_option("r_sampling", {"uniform", "log-uniform"}, "of r in its range"),
      choice_option("axis", {"epsilon", "mu"}, "what the line of r is drawn over"),
      choice_option("decompose", {"uniform-t", "rejection", "uniform-both", "fixed-t", "fixed-eta"},
                    "r into learning rate and steps: T drawn; both drawn until r is near; both drawn in the "
                    "sweeps, T in the final run; T = t_max; learning rate = eta_max"),
      real_option("eta_min", 0.01, 1e-12, 1e6, "smallest learning rate"),
      real_option("eta_max", 3.2, 1e-12, 1e6, "largest learning rate"),
      integer_option("t_min", 20, 1, 1e9, "fewest steps"),
      integer_option("t_max", 100, 1, 1e9, "most steps"),
      real_option("r_max", 64, 1e-12, 1e12, "largest r; never above eta_max t_max"),
      real_option("tolerance", 0.05, 1e-6, 1, "rejection: relative distance from r accepted"),
      integer_option("max_tries", 1000, 1, 1e6, "rejection: draws before the nearest grid point"),
      later(choice_option("batch", {"full", "sampled"}, "all samples each step, or the panel's batches")),
      later(choice_option("product", {"eta-t", "eta-t-b-c"},
                          "what r is; with B and C, the rate on summed gradients is r / (T B C), and "
                          "eta_min and eta_max bound that rate times B C")),
      later(
          grid_option("batch_sizes", {}, "eta-t-b-c: B of each run is drawn from these; none: the panel's")),
      later(grid_option("thresholds", {}, "eta-t-b-c: C of each run is drawn from these; none: the panel's")),
      later(choice_option("head", {"panel", "zero"}, "initial weights of the last layer")),
      later(
          choice_option("score", {"released", "train-unpriced"},
                        "a sweep's pick: by noised validation accuracy, or as printed by un-noised training "
                        "accuracy, which is not priced (the row is an oracle)")),
      real_option("momentum", 0.9, 0, 0.9999, "of SGD"),
      later({.name = "free_step",
             .type = OptionType::boolean,
             .default_value = false,
             .help = "each run takes one more step along the momentum after its last, without noise"}),
      real_option("score_noise", 30, 1e-6, 1e9, "of each validation score",
                  "sd in counts of correct examples")};
}

}  // namespace hyfreedp::baselines::linear_search
