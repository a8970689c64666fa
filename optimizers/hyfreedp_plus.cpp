#include "optimizers/hyfreedp_plus.h"

#include <algorithm>
#include <cmath>

#include "optimizers/acceptance.h"
#include "optimizers/decision_log.h"
#include "optimizers/option_values.h"
#include "optimizers/quadratic_fit.h"
#include "optimizers/scalar_state.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kLossRounding = 1e-7;  // relative, of a mean of float32 losses

struct Rule {
  bool eta0_from_dimension;  // 0.5 / sqrt(d)
  double eta0;
  std::int64_t interval;
  double rho, low, high, radius_max;
  double loss_bound0;  // 0: 2 ln(classes)
  LossBoundRule loss_bound;
};

// A precision-weighted mean whose memory fades: its precision is multiplied by rho before each new estimate.
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
  explicit HyFreeDpPlus(const Rule& rule) : rule_(rule) {}

  void begin(const Start& start) override {
    eta_ = rule_.eta0_from_dimension ? 0.5 / std::sqrt(double(start.dimension)) : rule_.eta0;
    radius_ = eta_;
    const double classes = double(std::max<std::int64_t>(start.classes, 2));
    loss_bound_ = rule_.loss_bound0 > 0 ? rule_.loss_bound0 : 2 * std::log(classes);
    curvature_ = slope_ = {};
    fitted_ = 0;
    log_.clear();
  }

  bool wants_probe(std::int64_t step) const override { return step % rule_.interval == 0; }
  ProbeRequest request(std::int64_t) const override {
    return {.abscissas = {0, radius_, -radius_}, .loss_bound = loss_bound_};
  }

  void observe(std::int64_t, const ProbeResult& result) override {
    const auto fit = fit_quadratic(result.abscissas, result.losses, Intercept::fixed);
    loss_bound_ = next_loss_bound(rule_.loss_bound, loss_bound_, result.abscissas, result.losses);
    if (!std::isfinite(fit.curvature) || !std::isfinite(fit.slope)) {
      log_.record("nonfinite_loss");
      return;
    }
    const double h = radius_;
    const double noise = std::max(result.noise_sd, kLossRounding * std::max(1.0, std::abs(fit.intercept)));
    const double curvature_sd = std::sqrt(6.0) * noise / (h * h);
    curvature_.add(fit.curvature, curvature_sd, rule_.rho);
    slope_.add(fit.slope, noise / (std::sqrt(2.0) * h), rule_.rho);
    curvature_to_noise_ = fit.curvature / curvature_sd;
    choose_rate(h);
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
      values.insert(
          {{"H", curvature_.value}, {"G", slope_.value}, {"curvature_to_noise", curvature_to_noise_}});
    }
    return values;
  }
  std::map<std::string, std::int64_t> decisions() const override { return log_.counts(); }
  std::string last_decision() const override { return log_.last(); }
  std::string outcome() const override {
    return log_.total() > 0 && log_.count("accepted") == 0 ? "fit rejected throughout" : "";
  }

 private:
  void choose_rate(double h) {
    if (!(curvature_.value > rule_.low * curvature_.sd())) {
      log_.record("curvature_invisible");
      return;
    }
    if (slope_.value < -rule_.low * slope_.sd()) {
      eta_ /= 2;
      log_.record("slope_negative");
      return;
    }
    const double most = fitted_ != 0 ? 2 * eta_ : std::max(h, eta_ / 2);
    eta_ = std::clamp(std::max(slope_.value, slope_.sd()) / curvature_.value, eta_ / 2, most);
    fitted_ = 1;
    log_.record("accepted");
  }

  void choose_radius() {
    if (!(curvature_to_noise_ > rule_.low)) {
      radius_ *= 2;
    } else if (curvature_to_noise_ > rule_.high) {
      radius_ /= 2;
    }
    radius_ = std::min(std::max(radius_, eta_), rule_.radius_max);
  }

  const Rule rule_;
  double eta_ = 0, radius_ = 0, loss_bound_ = 0;
  RunningMean curvature_, slope_;
  double curvature_to_noise_ = 0;  // of the last probe alone
  double fitted_ = 0;              // 1 once a fit has been accepted
  DecisionLog log_{{"accepted", "slope_negative", "curvature_invisible", "nonfinite_loss"}};
  ScalarState state_{{"eta", &eta_},
                     {"radius", &radius_},
                     {"R_l", &loss_bound_},
                     {"curvature", &curvature_.value},
                     {"curvature_precision", &curvature_.precision},
                     {"slope", &slope_.value},
                     {"slope_precision", &slope_.precision},
                     {"curvature_to_noise", &curvature_to_noise_},
                     {"fitted", &fitted_}};
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_hyfreedp_plus(const json::object& options) {
  const Rule rule{.eta0_from_dimension = text(options, "eta0_rule") == "sqrt-d",
                  .eta0 = real(options, "eta0"),
                  .interval = integer(options, "interval"),
                  .rho = real(options, "rho"),
                  .low = real(options, "low"),
                  .high = real(options, "high"),
                  .radius_max = real(options, "radius_max"),
                  .loss_bound0 = real_or(options, "R_l0", 0),
                  .loss_bound = loss_bound_of(options)};
  return std::unique_ptr<LearningRateController>(new HyFreeDpPlus(rule));
}

}  // namespace hyfreedp::optimizers
