#include "optimizers/hyfreedp_plus.h"

#include <algorithm>
#include <cmath>

#include "optimizers/acceptance.h"
#include "optimizers/decision_log.h"
#include "optimizers/quadratic_fit.h"
#include "optimizers/scalar_state.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kLossRounding = 1e-7;  // relative, of a mean of float32 losses
constexpr double kFar = 3;              // a fit changes the mean by at most this factor

// A precision-weighted mean whose memory fades: its precision is multiplied by rho before each new
// estimate.
struct RunningMean {
  double value = 0, precision = 0;

  void add(double estimate, double sd, double rho) {
    const double weight = 1 / (sd * sd);
    const double kept = rho * precision;
    precision = kept + weight;
    value = (kept * value + weight * estimate) / precision;
  }
  double sd() const { return 1 / std::sqrt(precision); }
};

class HyFreeDpPlus final : public LearningRateController {
 public:
  explicit HyFreeDpPlus(const HyFreeDpPlusOptions& options) : options_(options) {}

  void begin(const Start& start) override {
    eta_ = options_.eta0_rule == FirstRate::sqrt_d ? 0.5 / std::sqrt(double(start.dimension)) : options_.eta0;
    radius_ = eta_;
    const double classes = double(std::max<std::int64_t>(start.classes, 2));
    loss_bound_ = options_.loss_bound0.value_or(2 * std::log(classes));
    bound_rule_.floor = options_.loss_bound_floor.value_or(std::log(classes));
    bound_rule_.change = options_.loss_bound_change;
    steps_ = start.steps;
    curvature_ = slope_ = {};
    log_rate_ = options_.start_weight > 0 ? std::log(eta_ / options_.share) : 0;
    curvature_to_noise_ = slope_to_noise_ = fitted_ = raised_ = 0;
    log_.clear();
  }

  bool wants_probe(std::int64_t step) const override { return step % options_.probe.interval == 0; }
  ProbeRequest request(std::int64_t) const override {
    return {.abscissas = {0, radius_, -radius_},
            .loss_bound = loss_bound_,
            .difference_bound = options_.losses.share() * loss_bound_};
  }

  void observe(std::int64_t step, const ProbeResult& result) override {
    const auto fit = fit_quadratic(result.abscissas, result.losses, Intercept::fixed);
    loss_bound_ = next_loss_bound(bound_rule_, loss_bound_, result.abscissas, result.losses);
    if (!std::isfinite(fit.curvature) || !std::isfinite(fit.slope)) {
      log_.record("nonfinite_loss");
      return;
    }
    const double h = radius_;
    const double noise = std::max(result.noise_sd, kLossRounding * std::max(1.0, std::abs(fit.intercept)));
    const auto sd = noise_of_fit(result.abscissas, noise, options_.losses.share() > 0);
    curvature_.add(fit.curvature, sd.curvature, options_.rho);
    slope_.add(fit.slope, sd.slope, options_.rho);
    curvature_to_noise_ = fit.curvature / sd.curvature;
    slope_to_noise_ = fit.slope / sd.slope;
    if (options_.fits == RateOfFits::last) {
      choose_rate(h);
    } else if (double(step) < options_.until * double(steps_)) {
      average_rate();
    } else {
      log_.record("held");
    }
    choose_radius();
  }

  double learning_rate(std::int64_t) const override { return eta_; }

  std::map<std::string, double> state_scalars() const override {
    auto scalars = state_.save();
    log_.save(scalars);
    return scalars;
  }
  void restore_scalars(const std::map<std::string, double>& scalars) override {
    state_.restore(scalars);
    log_.restore(scalars);
  }
  std::map<std::string, double> scalars() const override {
    std::map<std::string, double> values = {{"eta", eta_}, {"R_l", loss_bound_}, {"radius", radius_}};
    if (log_.total() > 0) {
      values.insert({{"H", curvature_.value},
                     {"G", slope_.value},
                     {"curvature_to_noise", curvature_to_noise_},
                     {"slope_to_noise", slope_to_noise_}});
    }
    return values;
  }
  std::map<std::string, std::int64_t> decisions() const override { return log_.counts(); }
  std::string last_decision() const override { return log_.last(); }
  std::string outcome() const override {
    return log_.total() > 0 && log_.count("accepted") + log_.count("raised") == 0 ? "fit rejected throughout"
                                                                                  : "";
  }

 private:
  void choose_rate(double h) {
    if (!(curvature_.value > options_.low * curvature_.sd())) {
      log_.record("curvature_invisible");
      return;
    }
    if (slope_.value < -options_.low * slope_.sd()) {
      eta_ /= 2;
      log_.record("slope_negative");
      return;
    }
    const double most = fitted_ != 0 ? 2 * eta_ : std::max(h, eta_ / 2);
    eta_ = std::clamp(std::max(slope_.value, slope_.sd()) / curvature_.value, eta_ / 2, most);
    fitted_ = 1;
    log_.record("accepted");
  }

  void average_rate() {
    const double a = curvature_.value, a_sd = curvature_.sd(), b = slope_.value, b_sd = slope_.sd();
    const double seen = eta_ / options_.share;
    const bool visible = a > options_.low * a_sd;
    const double fit = visible ? std::max(b, b_sd) / a : b / (std::max(a, 0.0) + options_.low * a_sd);
    if (fitted_ == 0 && b > options_.low * b_sd && fit > (visible ? kFar * seen : seen)) {
      raised_ = 1;
      set_mean(std::log(std::min(fit, kFar * seen)));
      log_.record("raised");
    } else if (visible) {
      fitted_ += 1;
      const double near = std::log(std::clamp(fit, seen / kFar, seen * kFar));
      set_mean(log_rate_ + (near - log_rate_) / (fitted_ + std::max(raised_, options_.start_weight)));
      log_.record(b < -options_.low * b_sd ? "slope_negative" : "accepted");
    } else {
      log_.record("curvature_invisible");
    }
  }

  void set_mean(double log_rate) {
    log_rate_ = log_rate;
    eta_ = options_.share * std::exp(log_rate);
  }

  void choose_radius() {
    if (std::abs(curvature_to_noise_) <= options_.low) {
      radius_ *= 2;
    } else if (curvature_to_noise_ > options_.high || curvature_to_noise_ < 0) {
      radius_ /= 2;
    }
    if (fitted_ + raised_ > 0) radius_ = std::min(radius_, options_.reach * eta_);
    radius_ = std::min(std::max(radius_, eta_), options_.radius_max);
  }

  const HyFreeDpPlusOptions options_;
  double eta_ = 0, radius_ = 0, loss_bound_ = 0;
  RunningMean curvature_, slope_;
  double curvature_to_noise_ = 0, slope_to_noise_ = 0;  // of the last probe
  double fitted_ = 0;                                   // fits so far
  double raised_ = 0;                                   // 1 once a lower bound became the rate
  double log_rate_ = 0;                                 // of the mean of the fits
  LossBoundOptions bound_rule_;
  std::int64_t steps_ = 0;
  DecisionLog log_{{"accepted", "raised", "slope_negative", "curvature_invisible", "held", "nonfinite_loss"}};
  ScalarState state_{{"eta", &eta_},
                     {"radius", &radius_},
                     {"R_l", &loss_bound_},
                     {"curvature", &curvature_.value},
                     {"curvature_precision", &curvature_.precision},
                     {"slope", &slope_.value},
                     {"slope_precision", &slope_.precision},
                     {"curvature_to_noise", &curvature_to_noise_},
                     {"slope_to_noise", &slope_to_noise_},
                     {"raised", &raised_},
                     {"log_rate", &log_rate_},
                     {"fitted", &fitted_}};
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_hyfreedp_plus(const HyFreeDpPlusOptions& options) {
  return std::unique_ptr<LearningRateController>(new HyFreeDpPlus(options));
}

}  // namespace hyfreedp::optimizers
