#include "optimizers/facts.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "harness/base/option_lines.h"
#include "harness/base/text.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTiny = 1e-300;         // "greater than 0"
constexpr double kBelowOne = 1 - 1e-12;  // "less than 1"
constexpr std::int64_t kMostSteps = 1 << 30;
constexpr std::int64_t kMostPairs = 50;

OptionSpec beta1(double default_value) {
  return real_option("beta1", default_value, 0, kBelowOne, "decay of the first moment");
}
OptionSpec beta2(double default_value) {
  return real_option("beta2", default_value, 0, kBelowOne, "decay of the second moment");
}
OptionSpec eps(double default_value) {
  return real_option("eps", default_value, 0, kInfinity, "added to the root of the second moment");
}
OptionSpec weight_decay(double default_value, std::string how) {
  return real_option("weight_decay", default_value, 0, kInfinity, "weight decay, " + std::move(how));
}
OptionSpec d0(double default_value) {
  return real_option("d0", default_value, kTiny, kInfinity, "first estimate of the distance to the solution");
}
OptionSpec growth_rate() {
  return real_option("growth_rate", kInfinity, 1, kInfinity, "d grows by at most this factor per step");
}
OptionSpec bias_correction() {
  return flag_option("use_bias_correction", false, "Adam's bias correction as a factor of the step size");
}

OptionSpec free_step() {
  auto option =
      flag_option("free_step", false,
                  "after the last step, one more along the momentum buffer at the same rate, without "
                  "gradient or noise; needs momentum");
  option.stored_always = false;
  return option;
}

const char kDecoupled[] = "decoupled from the gradient";
const char kCoupled[] = "added to the gradient";

Facts sgd_facts() {
  return {
      .name = "sgd",
      .title = "SGD",
      .source = "Robbins and Monro 1951; Sutskever et al. 2013; update as in torch.optim.SGD",
      .options = {real_option("momentum", 0, 0, kBelowOne, "decay of the momentum buffer"),
                  flag_option("nesterov", false, "Nesterov's look-ahead; needs momentum and no dampening"),
                  real_option("dampening", 0, 0, 1,
                              "the buffer takes (1 - dampening) of each gradient but the first"),
                  weight_decay(0, kCoupled), free_step()},
      .check = check_sgd};
}

std::vector<OptionSpec> adam_options(double decay, const char* how) {
  return {beta1(0.9), beta2(0.999), eps(1e-8), weight_decay(decay, how),
          flag_option("amsgrad", false, "divide by the largest second moment so far")};
}

Facts adam_facts() {
  return {.name = "adam",
          .title = "Adam",
          .source = "Kingma and Ba 2015, arXiv:1412.6980; update as in torch.optim.Adam",
          .options = adam_options(0, kCoupled)};
}

Facts adamw_facts() {
  return {.name = "adamw",
          .title = "AdamW",
          .source = "Loshchilov and Hutter 2019, arXiv:1711.05101; update as in torch.optim.AdamW",
          .options = adam_options(0.01, kDecoupled)};
}

Facts prodigy_facts() {
  return {
      .name = "prodigy",
      .title = "Prodigy",
      .source = "Mishchenko and Defazio 2024, arXiv:2306.06101; update as in the authors' prodigyopt 1.1.2",
      .options = {beta1(0.9), beta2(0.999),
                  optional_real_option("beta3", 0, kBelowOne,
                                       "decay of the distance statistics; none: sqrt(beta2)"),
                  eps(1e-8), weight_decay(0, "decoupled, or added to the gradient where decouple is false"),
                  flag_option("decouple", true, "decoupled weight decay"), bias_correction(),
                  flag_option("safeguard_warmup", false,
                              "keep a learning-rate warm-up out of the denominator"),
                  d0(1e-6), real_option("d_coef", 1, kTiny, kInfinity, "factor of the distance estimate"),
                  growth_rate(),
                  integer_option("slice_p", 1, 1, kMostSteps,
                                 "distance statistics on every p-th entry of each tensor")},
      .owns_step_size = true};
}

Facts d_adapt_adam_facts() {
  return {
      .name = "d-adapt-adam",
      .title = "D-Adaptation (Adam)",
      .source = "Defazio and Mishchenko 2023, arXiv:2301.07733; update as in the authors' dadaptation 3.2",
      .options = {beta1(0.9),
                  beta2(0.999),
                  eps(1e-8),
                  weight_decay(0, "added to the gradient, or decoupled where decouple is true"),
                  flag_option("decouple", false, "decoupled weight decay"),
                  bias_correction(),
                  d0(1e-6),
                  growth_rate(),
                  {.name = "layer_scale",
                   .type = OptionType::real_list,
                   .default_value = json::array{},
                   .help = "one step-size factor for each parameter tensor; empty: all 1",
                   .min = 0}},
      .owns_step_size = true};
}

Facts d_adapt_sgd_facts() {
  return {
      .name = "d-adapt-sgd",
      .title = "D-Adaptation (SGD)",
      .source = "Defazio and Mishchenko 2023, arXiv:2301.07733; update as in the authors' dadaptation 3.2",
      .options = {real_option("momentum", 0, 0, kBelowOne, "weight of the old iterate in the primal average"),
                  weight_decay(0, "added to the gradient but not to the norm of the first one"), d0(1e-6),
                  growth_rate()},
      .owns_step_size = true};
}

Facts dog_facts() {
  return {
      .name = "dog",
      .title = "DoG",
      .source = "Ivgi, Hinder and Carmon 2023, arXiv:2302.12022",
      .options = {real_option("reps_rel", 1e-6, kTiny, kInfinity, "first distance, relative to 1 + ||x0||"),
                  real_option("eps", 1e-8, 0, kInfinity, "added to the sum of squared gradient norms"),
                  weight_decay(0, kCoupled),
                  flag_option("average", false, "evaluate the polynomial-decay average of the iterates")},
      .owns_step_size = true};
}

Facts dowg_facts() {
  return {
      .name = "dowg",
      .title = "DoWG",
      .source = "Khaled, Mishchenko and Jin 2023, arXiv:2305.16284",
      .options = {real_option("reps_rel", 1e-6, kTiny, kInfinity, "first distance, relative to 1 + ||x0||"),
                  optional_real_option(
                      "rt2_init", kTiny, kInfinity,
                      "first squared distance (the authors' code: 1e-4); none: from reps_rel"),
                  real_option("eps_den", 0, 0, kInfinity, "added to the root in the denominator")},
      .owns_step_size = true};
}

Facts dpadamwosm_facts() {
  return {.name = "dpadamwosm",
          .title = "DPAdamWOSM",
          .source = "Mohapatra et al. 2022, arXiv:2111.04906, section 6 and theorem 3",
          .options = {beta1(0.9),
                      real_option("xi", 1e-8, kTiny, kInfinity,
                                  "added to the noise scale sigma C / B in the denominator"),
                      weight_decay(0, kCoupled)}};
}

Facts adadp_facts() {
  return {
      .name = "adadp",
      .title = "ADADP",
      .source = "Koskela and Honkela 2020, arXiv:1809.03832; rule as in the authors' published code",
      .options = {real_option("lr0", 1e-3, kTiny, kInfinity, "first step size"),
                  real_option("tol", 1, kTiny, kInfinity, "tolerated error of a full against two half steps"),
                  real_option("amin", 0.9, kTiny, 1, "the step size shrinks at most by this factor"),
                  real_option("amax", 1.1, 1, kInfinity, "the step size grows at most by this factor"),
                  real_option("exponent", 0.5, kTiny, kInfinity,
                              "exponent of tol / error in the step-size factor"),
                  flag_option("stability_check", true,
                              "take back a pair of half steps whose error exceeds tol")},
      .owns_step_size = true};
}

Facts signum_facts() {
  return {.name = "signum",
          .title = "Signum",
          .source = "Bernstein et al. 2018, arXiv:1802.04434, algorithm 2",
          .options = {beta1(0.9)}};
}

Facts constant_facts() {
  return {.name = "constant",
          .title = "constant",
          .source = "one learning rate for all steps",
          .options = {real_option(
              "lr", 1e-3, 0, kInfinity,
              "learning rate; 1 is the recommended value for an optimizer that owns its step size")}};
}

Facts schedule_facts() {
  return {.name = "schedule",
          .title = "schedule",
          .source =
              "linear warm-up, then constant, linear or cosine decay (Loshchilov and Hutter 2017, "
              "arXiv:1608.03983)",
          .options = {
              real_option("lr", 1e-3, 0, kInfinity, "largest learning rate"),
              integer_option("warmup", 0, 0, kMostSteps, "steps of linear warm-up"),
              choice_option("decay", {"cosine", "linear", "constant"}, "decay of the rate after the warm-up"),
              real_option("final", 0, 0, 1, "fraction of lr that the decay ends at")}};
}

std::vector<OptionSpec> loss_bound_options() {
  return {real_option("R_l_floor", 1e-3, kTiny, kInfinity, "the loss bound never falls below this"),
          real_option("R_l_change", kInfinity, 1, kInfinity,
                      "the loss bound changes at most by this factor per probe")};
}

std::vector<OptionSpec> fit_options() {
  return {integer_option("interval", 5, 1, kMostSteps,
                         "K: probes at steps 0, K, 2K, ...; must equal the privacy plan's"),
          real_option("smoothing", 0.1, kTiny, 1, "weight of the new rate"),
          choice_option("gen_scale", {"constant", "linear"},
                        "factor of the new rate: 1, or falling linearly as 1 - t/T")};
}

OptionSpec loss_pairs() {
  return integer_option("pairs", kLossPairs, 1, kMostPairs,
                        "losses at w and at w -+ eta u, ..., w -+ pairs eta u");
}

// Stored only where given: specs from before these options keep the ids of their runs.
std::vector<OptionSpec> release_options() {
  std::vector<OptionSpec> options = {
      choice_option("release", {"separate", "paired"},
                    "what a probe releases: each loss by itself, or one loss and the differences from it"),
      only_with("release", "paired",
                real_option("difference_share", kDifferenceShare, kTiny, 2,
                            "bound of a sample's difference over the loss bound"))};
  for (auto& option : options) option.stored_always = false;
  return options;
}

// Of a paired release the bound of a difference is a share of the loss bound, and there is no noise
// for one that is not a positive number.
Result<void> check_release(const json::object& options) {
  if (string_or(options, "release", "separate") != "paired") return {};
  const double share = double_or(options, "difference_share", kDifferenceShare);
  for (const char* name : {"R_l0", "R_l_floor"}) {
    const auto* value = options.if_contains(name);
    if (value == nullptr || value->is_null()) continue;
    const double bound = share * double_or(options, name, 1);
    if (std::isfinite(bound) && bound >= kTiny) continue;
    return error(
        fmt::format("release: paired: {} of {} times difference_share of {} is too {} to be a bound of a "
                    "difference; give "
                    "{} nearer to 1.",
                    name, short_number(double_or(options, name, 1)), short_number(share),
                    bound >= 1 ? "large" : "small", name));
  }
  return {};
}

Facts hyfreedp_facts() {
  Facts facts{
      .name = "hyfreedp",
      .title = "HyFreeDP",
      .source = "Liu and Bu, ICLR 2025, algorithm 1, equations 6 and 7",
      .options = {choice_option(
                      "acceptance", {"raw", "clamp", "gen"},
                      "new rate: G/H; G/H within [eta/2, 2 eta]; or GeN's smoothed step towards that"),
                  real_option("eta0", 1e-4, kTiny, kInfinity, "first learning rate"),
                  choice_option("R_l_mode", {"sum", "center"},
                                "next loss bound: sum of the probe's private losses, or the centre loss"),
                  real_option("R_l0", 1, kTiny, kInfinity, "first loss bound")},
      .check = check_release,
      .probes = true};
  for (auto& option : loss_bound_options()) facts.options.push_back(option);
  for (auto& option : fit_options()) {
    const bool is_smoothing = option.name == "smoothing" || option.name == "gen_scale";
    facts.options.push_back(is_smoothing ? only_with("acceptance", "gen", option) : option);
  }
  for (auto& option : release_options()) facts.options.push_back(option);
  auto pairs = loss_pairs();
  pairs.stored_always = false;
  facts.options.push_back(pairs);
  return facts;
}

Facts hyfreedp_plus_facts() {
  Facts facts{
      .name = "hyfreedp-plus",
      .title = "HyFreeDP+ (ours)",
      .source = "this project: HyFreeDP's private quadratic fit with a probe radius apart from the rate",
      .options =
          {choice_option("eta0_rule", {"sqrt-d", "fixed"}, "first rate: 0.5 / sqrt(d), or eta0"),
           only_with("eta0_rule", "fixed", real_option("eta0", 1e-4, kTiny, kInfinity, "first rate")),
           integer_option("interval", 5, 1, kMostSteps,
                          "K: probes at steps 0, K, 2K, ...; must equal the privacy plan's"),
           real_option("rho", 0.8, 0, 1, "precision that earlier fits keep at each probe"),
           real_option(
               "low", 2, 0, kInfinity,
               "a fit counts if the running curvature exceeds this many sd of its noise; the radius doubles "
               "while a probe's own curvature does not"),
           real_option("high", 10, 0, kInfinity,
                       "the radius halves while a probe's curvature exceeds this many sd of its noise"),
           real_option("reach", 6, 1, kInfinity, "the radius never exceeds this many times the rate"),
           real_option("radius_max", 1e6, kTiny, kInfinity, "the radius never exceeds this"),
           choice_option(
               "fits", {"mean", "last"},
               "the rate follows the geometric mean of all fits, or the last fit within a factor of 2"),
           real_option("share", 0.5, kTiny, 1, "fits mean: the rate over the mean of the fits"),
           real_option("until", 0.4, 0, 1, "fits mean: share of the steps after which the rate is held"),
           optional_real_option("R_l0", kTiny, kInfinity, "first loss bound; none: 2 ln(classes)"),
           optional_real_option("R_l_floor", kTiny, kInfinity,
                                "the loss bound never falls below this; none: ln(classes)"),
           real_option("R_l_change", kInfinity, 1, kInfinity,
                       "the loss bound changes at most by this factor per probe")},
      .check = check_release,
      .probes = true};
  for (auto& option : release_options()) facts.options.push_back(option);
  auto weight =
      real_option("start_weight", 0, 0, 100, "fits mean: as how many fits the first rate counts in the mean");
  weight.stored_always = false;
  facts.options.push_back(weight);
  return facts;
}

Facts gen_facts() {
  Facts facts{.name = "gen",
              .title = "GeN",
              .source =
                  "Bu and Xu 2024, arXiv:2407.02772; rule as in the authors' code, with one pure direction "
                  "per step",
              .options = {real_option("eta0", 1e-4, kTiny, kInfinity, "first learning rate"), loss_pairs(),
                          choice_option("intercept", {"fixed", "free"},
                                        "intercept of the fit: the loss at w, or fitted"),
                          real_option("r2_min", 0.99, 0, 1,
                                      "smallest r^2 of an accepted fit, with more than three points")},
              .probes = true,
              .non_private_only = true};
  for (auto& option : fit_options()) facts.options.push_back(option);
  return facts;
}

Result<const Facts*> find(const std::vector<Facts>& table, const std::string& kind, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& facts : table) {
    if (facts.name == name) return &facts;
    names.push_back(facts.name);
  }
  return error("unknown " + kind + " '" + name + "'." + did_you_mean(name, names) +
               " Valid names: " + join(names, ", ") + ".");
}

}  // namespace

// clang-format off
const std::vector<Facts>& optimizer_facts() {
  static const std::vector<Facts> facts = {
      sgd_facts(),
      adam_facts(),
      adamw_facts(),
      prodigy_facts(),
      d_adapt_adam_facts(),
      d_adapt_sgd_facts(),
      dog_facts(),
      dowg_facts(),
      dpadamwosm_facts(),
      adadp_facts(),
      signum_facts(),
      // New optimizers go above this line.
  };
  return facts;
}

const std::vector<Facts>& controller_facts() {
  static const std::vector<Facts> facts = {
      constant_facts(),
      schedule_facts(),
      hyfreedp_facts(),
      hyfreedp_plus_facts(),
      gen_facts(),
      // New controllers go above this line.
  };
  return facts;
}
// clang-format on

Result<const Facts*> find_optimizer(const std::string& name) {
  return find(optimizer_facts(), "optimizer", name);
}
Result<const Facts*> find_controller(const std::string& name) {
  return find(controller_facts(), "learning-rate controller", name);
}

Result<void> check_sgd(const json::object& options) {
  const double momentum = double_or(options, "momentum", 0);
  if (bool_or(options, "nesterov", false) && (momentum <= 0 || double_or(options, "dampening", 0) != 0)) {
    return error("'nesterov' needs a 'momentum' above 0 and no 'dampening'");
  }
  if (bool_or(options, "free_step", false) && momentum <= 0) {
    return error("'free_step' goes along the momentum buffer, so it needs a 'momentum' above 0");
  }
  return {};
}

}  // namespace hyfreedp::optimizers
