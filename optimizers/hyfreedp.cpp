#include "optimizers/hyfreedp.h"

#include "optimizers/acceptance.h"
#include "optimizers/decision_log.h"
#include "optimizers/quadratic_fit.h"
#include "optimizers/scalar_state.h"

namespace hyfreedp::optimizers {
namespace {

// Standard deviations of noise above which a curvature is taken as seen. Noise alone exceeds it in
// 2.3 % of probes.
constexpr double kVisible = 2;

class HyFreeDp final : public LearningRateController {
 public:
  explicit HyFreeDp(const HyFreeDpOptions& options) : options_(options) {}

  void begin(const Start& start) override {
    steps_ = start.steps;
    eta_ = options_.eta0;
    loss_bound_ = options_.loss_bound0;
    curvature_to_noise_ = slope_to_noise_ = within_noise_ = 0;
    log_.clear();
  }

  bool wants_probe(std::int64_t step) const override { return step % options_.probe.interval == 0; }
  ProbeRequest request(std::int64_t) const override {
    return {.abscissas = symmetric_abscissas(eta_, options_.probe.pairs),
            .loss_bound = loss_bound_,
            .difference_bound = options_.losses.share() * loss_bound_};
  }

  void observe(std::int64_t step, const ProbeResult& result) override {
    const auto fit = fit_quadratic(result.abscissas, result.losses, Intercept::fixed);
    curvature_ = fit.curvature;
    slope_ = fit.slope;
    eta_star_ = fit.minimum();
    compare_with_noise(result);
    log_.record(judge_fit(fit, result.losses));
    eta_ = next_rate(options_.fit, log_.last(), eta_, eta_star_, double(step) / double(steps_));
    loss_bound_ = next_loss_bound(options_.loss_bound, loss_bound_, result.abscissas, result.losses);
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
    std::map<std::string, double> values = {{"eta", eta_}, {"R_l", loss_bound_}};
    if (log_.total() == 0) return values;
    values.insert({{"H", curvature_}, {"G", slope_}, {"eta_star", eta_star_}});
    if (has_noise_ != 0) {
      values.insert({{"curvature_to_noise", curvature_to_noise_}, {"slope_to_noise", slope_to_noise_}});
    }
    return values;
  }
  std::map<std::string, std::int64_t> decisions() const override { return log_.counts(); }
  std::string last_decision() const override { return log_.last(); }
  std::string outcome() const override {
    if (log_.total() > 0 && log_.count("accepted") == 0) return "fit rejected throughout";
    return 2 * within_noise_ > double(log_.total()) ? "curvature within its noise" : "";
  }

 private:
  void compare_with_noise(const ProbeResult& result) {
    has_noise_ = result.noise_sd > 0 ? 1 : 0;
    if (has_noise_ == 0) return;
    const auto sd = noise_of_fit(result.abscissas, result.noise_sd, options_.losses.share() > 0);
    curvature_to_noise_ = curvature_ / sd.curvature;
    slope_to_noise_ = slope_ / sd.slope;
    if (!(curvature_to_noise_ >= kVisible)) within_noise_ += 1;
  }

  const HyFreeDpOptions options_;
  std::int64_t steps_ = 1;
  double eta_ = 0, loss_bound_ = 0;
  double curvature_ = 0, slope_ = 0, eta_star_ = 0;     // of the last probe
  double curvature_to_noise_ = 0, slope_to_noise_ = 0;  // H and G over their noise's sd
  double has_noise_ = 0;                                // 1 where the losses had noise
  double within_noise_ = 0;                             // probes with H below kVisible sd
  DecisionLog log_{{"accepted", "nonfinite_loss", "H_nonpositive", "G_nonpositive", "eta_nonfinite"}};
  ScalarState state_{{"eta", &eta_},
                     {"R_l", &loss_bound_},
                     {"H", &curvature_},
                     {"G", &slope_},
                     {"eta_star", &eta_star_},
                     {"curvature_to_noise", &curvature_to_noise_},
                     {"slope_to_noise", &slope_to_noise_},
                     {"has_noise", &has_noise_},
                     {"within_noise", &within_noise_}};
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_hyfreedp(const HyFreeDpOptions& options) {
  return std::unique_ptr<LearningRateController>(new HyFreeDp(options));
}

}  // namespace hyfreedp::optimizers
