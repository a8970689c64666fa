#include "optimizers/facts.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "harness/base/option_lines.h"
#include "harness/base/text.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kTiny = 1e-300;         // "greater than 0"
constexpr double kBelowOne = 1 - 1e-12;  // "less than 1"
constexpr std::int64_t kMostSteps = 1 << 30;
constexpr std::int64_t kMostPairs = 50;

OptionSpec beta1() { return ranged_option("beta1", 0, kBelowOne, "decay of the first moment"); }
OptionSpec beta2() { return ranged_option("beta2", 0, kBelowOne, "decay of the second moment"); }
OptionSpec eps() { return ranged_option("eps", 0, kNoLimit, "added to the root of the second moment"); }
OptionSpec weight_decay(std::string how) {
  return ranged_option("weight_decay", 0, kNoLimit, "weight decay, " + std::move(how));
}
OptionSpec decouple() { return plain_option("decouple", "decoupled weight decay"); }
OptionSpec d0() {
  return ranged_option("d0", kTiny, kNoLimit, "first estimate of the distance to the solution");
}
OptionSpec growth_rate() {
  return ranged_option("growth_rate", 1, kNoLimit, "d grows by at most this factor per step");
}
OptionSpec bias_correction() {
  return plain_option("use_bias_correction", "Adam's bias correction as a factor of the step size");
}
OptionSpec reps_rel() {
  return ranged_option("reps_rel", kTiny, kNoLimit, "first distance, relative to 1 + ||x0||");
}

const char kDecoupled[] = "decoupled from the gradient";
const char kCoupled[] = "added to the gradient";

// A rule's check as facts have it.
template <class T, Result<void> (*check)(const T&)>
Result<void> check_as(const json::object& options) {
  return check(read_options<T>(options));
}

std::vector<OptionSpec> sgd_table() {
  return {ranged_option("momentum", 0, kBelowOne, "decay of the momentum buffer"),
          plain_option("nesterov", "Nesterov's look-ahead; needs momentum and no dampening"),
          only_above("momentum", 0,
                     ranged_option("dampening", 0, 1,
                                   "the buffer takes (1 - dampening) of each gradient but the first")),
          weight_decay(kCoupled),
          later_option(plain_option(
              "free_step",
              "after the last step, one more along the momentum buffer at the same rate, without "
              "gradient or noise; needs momentum"))};
}

Facts sgd_facts() {
  return {.name = "sgd",
          .title = "SGD",
          .source = "Robbins and Monro 1951; Sutskever et al. 2013; update as in torch.optim.SGD",
          .options = options_of<SgdOptions>(sgd_table()),
          .check = check_as<SgdOptions, check_sgd>};
}

Result<void> check_dp_zo(const DpZoOptions& options) { return check_sgd(options.sgd); }

Facts dp_zo_facts() {
  auto table = sgd_table();
  table.insert(table.begin(),
               {ranged_option("scale", 1e-12, 1e6,
                              "phi: each record's loss is compared at w + phi z and at w - phi z"),
                plain_option("direction", "z: standard normal, or uniform on the sphere of radius sqrt(d)")});
  return {.name = "dp-zo",
          .title = "DP-ZO",
          .source = "Tang et al. 2024, arXiv:2401.04343; sphere: Zhang et al. 2024, arXiv:2310.09639",
          .options = options_of<DpZoOptions>(std::move(table)),
          .check = check_as<DpZoOptions, check_dp_zo>,
          .of_loss_changes = true};
}

std::vector<OptionSpec> adam_table(const char* how) {
  return {beta1(), beta2(), eps(), weight_decay(how),
          plain_option("amsgrad", "divide by the largest second moment so far")};
}

Facts adam_facts() {
  return {.name = "adam",
          .title = "Adam",
          .source = "Kingma and Ba 2015, arXiv:1412.6980; update as in torch.optim.Adam",
          .options = options_of<AdamOptions>(adam_table(kCoupled))};
}

Facts adamw_facts() {
  return {.name = "adamw",
          .title = "AdamW",
          .source = "Loshchilov and Hutter 2019, arXiv:1711.05101; update as in torch.optim.AdamW",
          .options = options_of<AdamwOptions>(adam_table(kDecoupled))};
}

Facts prodigy_facts() {
  return {
      .name = "prodigy",
      .title = "Prodigy",
      .source = "Mishchenko and Defazio 2024, arXiv:2306.06101; update as in the authors' prodigyopt 1.1.2",
      .options = options_of<ProdigyOptions>(
          {beta1(), beta2(),
           ranged_option("beta3", 0, kBelowOne, "decay of the distance statistics; none: sqrt(beta2)"), eps(),
           weight_decay("decoupled, or added to the gradient where decouple is false"), decouple(),
           bias_correction(),
           plain_option("safeguard_warmup", "keep a learning-rate warm-up out of the denominator"), d0(),
           ranged_option("d_coef", kTiny, kNoLimit, "factor of the distance estimate"), growth_rate(),
           ranged_option("slice_p", 1, kMostSteps,
                         "distance statistics on every p-th entry of each tensor")}),
      .owns_step_size = true};
}

Facts d_adapt_adam_facts() {
  return {
      .name = "d-adapt-adam",
      .title = "D-Adaptation (Adam)",
      .source = "Defazio and Mishchenko 2023, arXiv:2301.07733; update as in the authors' dadaptation 3.2",
      .options = options_of<DAdaptAdamOptions>(
          {beta1(), beta2(), eps(),
           weight_decay("added to the gradient, or decoupled where decouple is true"), decouple(),
           bias_correction(), d0(), growth_rate(),
           ranged_option("layer_scale", 0, kNoLimit,
                         "one step-size factor for each parameter tensor; empty: all 1")}),
      .owns_step_size = true};
}

Facts d_adapt_sgd_facts() {
  return {
      .name = "d-adapt-sgd",
      .title = "D-Adaptation (SGD)",
      .source = "Defazio and Mishchenko 2023, arXiv:2301.07733; update as in the authors' dadaptation 3.2",
      .options = options_of<DAdaptSgdOptions>(
          {ranged_option("momentum", 0, kBelowOne, "weight of the old iterate in the primal average"),
           weight_decay("added to the gradient but not to the norm of the first one"), d0(), growth_rate()}),
      .owns_step_size = true};
}

Facts dog_facts() {
  return {.name = "dog",
          .title = "DoG",
          .source = "Ivgi, Hinder and Carmon 2023, arXiv:2302.12022",
          .options = options_of<DogOptions>(
              {reps_rel(), ranged_option("eps", 0, kNoLimit, "added to the sum of squared gradient norms"),
               weight_decay(kCoupled),
               plain_option("average", "evaluate the polynomial-decay average of the iterates")}),
          .owns_step_size = true};
}

Facts dowg_facts() {
  return {.name = "dowg",
          .title = "DoWG",
          .source = "Khaled, Mishchenko and Jin 2023, arXiv:2305.16284",
          .options = options_of<DowgOptions>(
              {only_with("rt2_init", "none", reps_rel()),
               ranged_option("rt2_init", kTiny, kNoLimit,
                             "first squared distance (the authors' code: 1e-4); none: from reps_rel"),
               ranged_option("eps_den", 0, kNoLimit, "added to the root in the denominator")}),
          .owns_step_size = true};
}

Facts dpadamwosm_facts() {
  return {
      .name = "dpadamwosm",
      .title = "DPAdamWOSM",
      .source = "Mohapatra et al. 2022, arXiv:2111.04906, section 6 and theorem 3",
      .options = options_of<DpAdamWosmOptions>(
          {beta1(),
           ranged_option("xi", kTiny, kNoLimit, "added to the noise scale sigma C / B in the denominator"),
           weight_decay(kCoupled)})};
}

Facts adadp_facts() {
  return {.name = "adadp",
          .title = "ADADP",
          .source = "Koskela and Honkela 2020, arXiv:1809.03832; rule as in the authors' published code",
          .options = options_of<AdadpOptions>(
              {ranged_option("lr0", kTiny, kNoLimit, "first step size"),
               ranged_option("tol", kTiny, kNoLimit, "tolerated error of a full against two half steps"),
               ranged_option("amin", kTiny, 1, "the step size shrinks at most by this factor"),
               ranged_option("amax", 1, kNoLimit, "the step size grows at most by this factor"),
               ranged_option("exponent", kTiny, kNoLimit, "exponent of tol / error in the step-size factor"),
               plain_option("stability_check", "take back a pair of half steps whose error exceeds tol")}),
          .owns_step_size = true};
}

Facts signum_facts() {
  return {.name = "signum",
          .title = "Signum",
          .source = "Bernstein et al. 2018, arXiv:1802.04434, algorithm 2",
          .options = options_of<SignumOptions>({beta1()})};
}

Facts constant_facts() {
  return {.name = "constant",
          .title = "constant",
          .source = "one learning rate for all steps",
          .options = options_of<ConstantOptions>({ranged_option(
              "lr", 0, kNoLimit,
              "learning rate; 1 is the recommended value for an optimizer that owns its step size")})};
}

Facts schedule_facts() {
  return {.name = "schedule",
          .title = "schedule",
          .source =
              "linear warm-up, then constant, linear or cosine decay (Loshchilov and Hutter 2017, "
              "arXiv:1608.03983)",
          .options = options_of<ScheduleOptions>(
              {ranged_option("lr", 0, kNoLimit, "largest learning rate"),
               ranged_option("warmup", 0, kMostSteps, "steps of linear warm-up"),
               plain_option("decay", "decay of the rate after the warm-up"),
               only_without("decay", "constant",
                            ranged_option("final", 0, 1, "fraction of lr that the decay ends at"))})};
}

OptionSpec eta0(std::string help) { return ranged_option("eta0", kTiny, kNoLimit, std::move(help)); }
OptionSpec interval() {
  return ranged_option("interval", 1, kMostSteps,
                       "K: probes at steps 0, K, 2K, ...; must equal the privacy plan's");
}
OptionSpec smoothing() { return ranged_option("smoothing", kTiny, 1, "weight of the new rate"); }
OptionSpec gen_scale() {
  return plain_option("gen_scale", "factor of the new rate: 1, or falling linearly as 1 - t/T");
}
OptionSpec pairs() {
  return ranged_option("pairs", 1, kMostPairs, "losses at w and at w -+ eta u, ..., w -+ pairs eta u");
}
OptionSpec loss_bound0(std::string help) { return ranged_option("R_l0", kTiny, kNoLimit, std::move(help)); }
OptionSpec loss_bound_floor(const std::string& when_none) {
  return ranged_option("R_l_floor", kTiny, kNoLimit, "the loss bound never falls below this" + when_none);
}
OptionSpec loss_bound_change() {
  return ranged_option("R_l_change", 1, kNoLimit, "the loss bound changes at most by this factor per probe");
}

// Stored only where given: specs from before these options keep the ids of their runs.
OptionSpec release() {
  return later_option(plain_option(
      "release", "what a probe releases: each loss by itself, or one loss and the differences from it"));
}
OptionSpec difference_share() {
  return later_option(only_with(
      "release", "paired",
      ranged_option("difference_share", kTiny, 2, "bound of a sample's difference over the loss bound")));
}

// Checks that a paired release's bound of a difference, a share of the loss bound `name`, is
// positive and finite; there is no noise for any other.
Result<void> check_difference(const LossReleaseOptions& losses, const char* name, double loss_bound) {
  if (losses.release != LossRelease::paired) return {};
  const double bound = losses.difference_share * loss_bound;
  if (std::isfinite(bound) && bound >= kTiny) return {};
  return error(
      fmt::format("release: paired: {} of {} times difference_share of {} is too {} to be a bound of a "
                  "difference; give "
                  "{} nearer to 1.",
                  name, short_number(loss_bound), short_number(losses.difference_share),
                  bound >= 1 ? "large" : "small", name));
}

Result<void> check_hyfreedp(const HyFreeDpOptions& options) {
  if (auto first = check_difference(options.losses, "R_l0", options.loss_bound0); !first) return first;
  return check_difference(options.losses, "R_l_floor", options.loss_bound.floor);
}

Result<void> check_hyfreedp_plus(const HyFreeDpPlusOptions& options) {
  if (auto first = check_difference(options.losses, "R_l0", options.loss_bound0.value_or(1)); !first)
    return first;
  return check_difference(options.losses, "R_l_floor", options.loss_bound_floor.value_or(1));
}

Facts hyfreedp_facts() {
  return {
      .name = "hyfreedp",
      .title = "HyFreeDP",
      .source = "Liu and Bu, ICLR 2025, algorithm 1, equations 6 and 7",
      .options = options_of<HyFreeDpOptions>(
          {plain_option("acceptance",
                        "new rate: G/H; G/H within [eta/2, 2 eta]; or GeN's smoothed step towards that"),
           eta0("first learning rate"),
           plain_option("R_l_mode", "next loss bound: sum of the probe's private losses, or the centre loss"),
           loss_bound0("first loss bound"), loss_bound_floor(""), loss_bound_change(), interval(),
           only_with("acceptance", "gen", smoothing()), only_with("acceptance", "gen", gen_scale()),
           release(), difference_share(), later_option(pairs())}),
      .check = check_as<HyFreeDpOptions, check_hyfreedp>,
      .probes = true};
}

Facts hyfreedp_plus_facts() {
  return {
      .name = "hyfreedp-plus",
      .title = "HyFreeDP+ (ours)",
      .source = "this project: HyFreeDP's private quadratic fit with a probe radius apart from the rate",
      .options = options_of<HyFreeDpPlusOptions>(
          {plain_option("eta0_rule", "first rate: 0.5 / sqrt(d), or eta0"),
           only_with("eta0_rule", "fixed", eta0("first rate")), interval(),
           ranged_option("rho", 0, 1, "precision that earlier fits keep at each probe"),
           ranged_option(
               "low", 0, kNoLimit,
               "a fit counts if the running curvature exceeds this many sd of its noise; the radius doubles "
               "while a probe's own curvature does not"),
           ranged_option("high", 0, kNoLimit,
                         "the radius halves while a probe's curvature exceeds this many sd of its noise"),
           ranged_option("reach", 1, kNoLimit, "the radius never exceeds this many times the rate"),
           ranged_option("radius_max", kTiny, kNoLimit, "the radius never exceeds this"),
           plain_option(
               "fits",
               "the rate follows the geometric mean of all fits, or the last fit within a factor of 2"),
           only_with("fits", "mean", ranged_option("share", kTiny, 1, "the rate over the mean of the fits")),
           only_with("fits", "mean",
                     ranged_option("until", 0, 1, "share of the steps after which the rate is held")),
           loss_bound0("first loss bound; none: 2 ln(classes)"), loss_bound_floor("; none: ln(classes)"),
           loss_bound_change(), release(), difference_share(),
           later_option(only_with("fits", "mean",
                                  ranged_option("start_weight", 0, 100,
                                                "as how many fits the first rate counts in the mean")))}),
      .check = check_as<HyFreeDpPlusOptions, check_hyfreedp_plus>,
      .probes = true};
}

Facts gen_facts() {
  return {.name = "gen",
          .title = "GeN",
          .source =
              "Bu and Xu 2024, arXiv:2407.02772; rule as in the authors' code, with one pure direction "
              "per step",
          .options = options_of<GenOptions>(
              {eta0("first learning rate"), pairs(),
               plain_option("intercept", "intercept of the fit: the loss at w, or fitted"),
               ranged_option("r2_min", 0, 1, "smallest r^2 of an accepted fit, with more than three points"),
               interval(), smoothing(), gen_scale()}),
          .probes = true,
          .non_private_only = true};
}

Facts free_slope_facts() {
  return {
      .name = "free-slope",
      .title = "free slope (ours)",
      .source = "this project: the slope of released gradients along the step before",
      .options = options_of<FreeSlopeOptions>(
          {eta0("rate of the first step, of all groups"),
           ranged_option("gain", kTiny, 10, "a rate changes by at most this, in natural logarithm, a step"),
           ranged_option("kesten", 0, kNoLimit,
                         "the gain is divided by 1 + this times the slope's changes of sign so far"),
           ranged_option("beta", 0, kBelowOne, "decay of the mean square of slopes"),
           plain_option("groups",
                        "what has a rate of its own: each layer, all together, or as the "
                        "network began (free_slope.h)")}),
      .follows_slopes = true};
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
      dp_zo_facts(),
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
      free_slope_facts(),
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

Result<void> check_sgd(const SgdOptions& options) {
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0)) {
    return error("'nesterov' needs a 'momentum' above 0 and no 'dampening'");
  }
  if (options.end.free_step && options.momentum <= 0) {
    return error("'free_step' goes along the momentum buffer, so it needs a 'momentum' above 0");
  }
  return {};
}

Result<void> check_layout(const std::string& optimizer, const json::object& options, std::size_t tensors) {
  const auto* const scale = options.if_contains("layer_scale");
  if (scale == nullptr || !scale->is_array() || scale->get_array().empty()) return {};
  const auto given = scale->get_array().size();
  if (given == tensors) return {};
  return error(
      fmt::format("optimizer '{}': 'layer_scale' has {} factors, and the model trains {} tensors; give "
                  "one factor for each, in their order.",
                  optimizer, given, tensors));
}

}  // namespace hyfreedp::optimizers
