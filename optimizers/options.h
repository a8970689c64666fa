// The options of every optimizer and learning-rate controller, a struct each, without LibTorch:
// what a spec may set, with its defaults. facts.cpp says the rest of each option (help, range), and
// the rules get the struct (registry.cpp reads it).
//
// A member has the option's name, or the one that its kNames gives. The marks of code
// (harness/build/code_marks.py) leave this file out: what a run's config says is enough.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "harness/base/describe.h"
#include "optimizers/quadratic_fit.h"

namespace hyfreedp::optimizers {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// The end of a run, for optimizers with such options; read_options gives the defaults for others.
struct EndOptions {
  bool average = false;    // evaluated at an average of the iterates
  bool free_step = false;  // a step more, without gradient or noise
};
BOOST_DESCRIBE_STRUCT(EndOptions, (), (average, free_step))

struct SgdOptions {
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  EndOptions end;
  static constexpr std::array kInlined = {"end"};
};
BOOST_DESCRIBE_STRUCT(SgdOptions, (), (momentum, dampening, weight_decay, nesterov, end))

// The distribution of a random direction of d numbers.
enum class Direction { gaussian, sphere };
BOOST_DESCRIBE_ENUM(Direction, gaussian, sphere)

struct DpZoOptions {
  double scale = 1e-3;  // phi: losses are compared at w + phi z and at w - phi z
  Direction direction = Direction::gaussian;
  SgdOptions sgd;
  static constexpr std::array kInlined = {"sgd"};
};
BOOST_DESCRIBE_STRUCT(DpZoOptions, (), (scale, direction, sgd))

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
};
BOOST_DESCRIBE_STRUCT(AdamOptions, (), (beta1, beta2, eps, weight_decay, amsgrad))

struct AdamwOptions {
  AdamOptions adam{.weight_decay = 0.01};
  static constexpr std::array kInlined = {"adam"};
};
BOOST_DESCRIBE_STRUCT(AdamwOptions, (), (adam))

struct ProdigyOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  std::optional<double> beta3;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decouple = true;
  bool use_bias_correction = false;
  bool safeguard_warmup = false;
  double d0 = 1e-6;
  double d_coef = 1;
  double growth_rate = kNoLimit;
  std::int64_t slice_p = 1;
};
BOOST_DESCRIBE_STRUCT(ProdigyOptions, (),
                      (beta1, beta2, beta3, eps, weight_decay, decouple, use_bias_correction,
                       safeguard_warmup, d0, d_coef, growth_rate, slice_p))

struct DAdaptAdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decouple = false;
  bool use_bias_correction = false;
  double d0 = 1e-6;
  double growth_rate = kNoLimit;
  std::vector<double> layer_scale;
};
BOOST_DESCRIBE_STRUCT(DAdaptAdamOptions, (),
                      (beta1, beta2, eps, weight_decay, decouple, use_bias_correction, d0, growth_rate,
                       layer_scale))

struct DAdaptSgdOptions {
  double momentum = 0;
  double weight_decay = 0;
  double d0 = 1e-6;
  double growth_rate = kNoLimit;
};
BOOST_DESCRIBE_STRUCT(DAdaptSgdOptions, (), (momentum, weight_decay, d0, growth_rate))

struct DogOptions {
  double reps_rel = 1e-6;
  double eps = 1e-8;
  double weight_decay = 0;
  EndOptions end;
  static constexpr std::array kInlined = {"end"};
};
BOOST_DESCRIBE_STRUCT(DogOptions, (), (reps_rel, eps, weight_decay, end))

struct DowgOptions {
  double reps_rel = 1e-6;
  std::optional<double> rt2_init;
  double eps_den = 0;
};
BOOST_DESCRIBE_STRUCT(DowgOptions, (), (reps_rel, rt2_init, eps_den))

struct DpAdamWosmOptions {
  double beta1 = 0.9;
  double xi = 1e-8;
  double weight_decay = 0;
};
BOOST_DESCRIBE_STRUCT(DpAdamWosmOptions, (), (beta1, xi, weight_decay))

struct AdadpOptions {
  double lr0 = 1e-3;
  double tol = 1;
  double amin = 0.9;
  double amax = 1.1;
  double exponent = 0.5;
  bool stability_check = true;
};
BOOST_DESCRIBE_STRUCT(AdadpOptions, (), (lr0, tol, amin, amax, exponent, stability_check))

struct SignumOptions {
  double beta1 = 0.9;
};
BOOST_DESCRIBE_STRUCT(SignumOptions, (), (beta1))

struct ConstantOptions {
  double lr = 1e-3;
};
BOOST_DESCRIBE_STRUCT(ConstantOptions, (), (lr))

enum class RateDecay { cosine, linear, constant };
BOOST_DESCRIBE_ENUM(RateDecay, cosine, linear, constant)

struct ScheduleOptions {
  double lr = 1e-3;
  std::int64_t warmup = 0;  // steps
  RateDecay decay = RateDecay::cosine;
  double final = 0;
};
BOOST_DESCRIBE_STRUCT(ScheduleOptions, (), (lr, warmup, decay, final))

// The interval between probes, and their points: w and so many pairs w -+ k h u.
struct ProbeOptions {
  std::int64_t interval = 5;  // steps
  std::int64_t pairs = 1;
};
BOOST_DESCRIBE_STRUCT(ProbeOptions, (), (interval, pairs))

enum class Acceptance { raw, clamp, gen };
BOOST_DESCRIBE_ENUM(Acceptance, raw, clamp, gen)
enum class GenScale { constant, linear };
BOOST_DESCRIBE_ENUM(GenScale, constant, linear)

// The rule by which an accepted fit changes the rate (acceptance.h).
struct AcceptanceOptions {
  Acceptance acceptance = Acceptance::raw;
  double smoothing = 0.1;
  GenScale gen_scale = GenScale::constant;
};
BOOST_DESCRIBE_STRUCT(AcceptanceOptions, (), (acceptance, smoothing, gen_scale))

enum class LossBoundMode { sum, center };
BOOST_DESCRIBE_ENUM(LossBoundMode, sum, center)

// The rule by which the loss bound follows from a probe (acceptance.h).
struct LossBoundOptions {
  LossBoundMode mode = LossBoundMode::sum;
  double floor = 1e-3;
  double change = kNoLimit;  // a factor
  static constexpr std::array kNames = {description::Name{"mode", "R_l_mode"},
                                        description::Name{"floor", "R_l_floor"},
                                        description::Name{"change", "R_l_change"}};
};
BOOST_DESCRIBE_STRUCT(LossBoundOptions, (), (mode, floor, change))

enum class LossRelease { separate, paired };
BOOST_DESCRIBE_ENUM(LossRelease, separate, paired)

struct LossReleaseOptions {
  LossRelease release = LossRelease::separate;
  double difference_share = 0.1;

  // Bound of a sample's difference of losses over the loss bound; 0: each loss is a release of its
  // own.
  double share() const { return release == LossRelease::paired ? difference_share : 0; }
};
BOOST_DESCRIBE_STRUCT(LossReleaseOptions, (), (release, difference_share))

struct HyFreeDpOptions {
  AcceptanceOptions fit;
  double eta0 = 1e-4;
  double loss_bound0 = 1;
  LossBoundOptions loss_bound;
  ProbeOptions probe;
  LossReleaseOptions losses;
  static constexpr std::array kInlined = {"fit", "loss_bound", "probe", "losses"};
  static constexpr std::array kNames = {description::Name{"loss_bound0", "R_l0"}};
};
BOOST_DESCRIBE_STRUCT(HyFreeDpOptions, (), (fit, eta0, loss_bound0, loss_bound, probe, losses))

enum class FirstRate { sqrt_d, fixed };
BOOST_DESCRIBE_ENUM(FirstRate, sqrt_d, fixed)
enum class RateOfFits { mean, last };
BOOST_DESCRIBE_ENUM(RateOfFits, mean, last)

struct HyFreeDpPlusOptions {
  FirstRate eta0_rule = FirstRate::sqrt_d;
  double eta0 = 1e-4;
  ProbeOptions probe;
  double rho = 0.8;
  double low = 2;
  double high = 10;
  double reach = 6;
  double radius_max = 1e6;
  RateOfFits fits = RateOfFits::mean;
  double share = 0.5;
  double until = 0.4;
  double start_weight = 0;
  std::optional<double> loss_bound0, loss_bound_floor;
  double loss_bound_change = kNoLimit;
  LossReleaseOptions losses;
  static constexpr std::array kInlined = {"probe", "losses"};
  static constexpr std::array kNames = {description::Name{"loss_bound0", "R_l0"},
                                        description::Name{"loss_bound_floor", "R_l_floor"},
                                        description::Name{"loss_bound_change", "R_l_change"}};
};
BOOST_DESCRIBE_STRUCT(HyFreeDpPlusOptions, (),
                      (eta0_rule, eta0, probe, rho, low, high, reach, radius_max, fits, share, until,
                       start_weight, loss_bound0, loss_bound_floor, loss_bound_change, losses))

enum class SlopeGroups { origin, layers, all };
BOOST_DESCRIBE_ENUM(SlopeGroups, origin, layers, all)

struct FreeSlopeOptions {
  double eta0 = 1e-5;
  double gain = 0.35;
  double kesten = 0.05;
  double beta = 0.9;
  SlopeGroups groups = SlopeGroups::origin;
};
BOOST_DESCRIBE_STRUCT(FreeSlopeOptions, (), (eta0, gain, kesten, beta, groups))

struct GenOptions {
  AcceptanceOptions fit{.acceptance = Acceptance::gen};
  double eta0 = 1e-4;
  ProbeOptions probe;
  Intercept intercept = Intercept::fixed;
  double r2_min = 0.99;
  static constexpr std::array kInlined = {"fit", "probe"};
};
BOOST_DESCRIBE_STRUCT(GenOptions, (), (fit, eta0, probe, intercept, r2_min))

}  // namespace hyfreedp::optimizers
