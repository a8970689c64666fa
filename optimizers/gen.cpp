#include "optimizers/gen.h"

#include "optimizers/acceptance.h"
#include "optimizers/decision_log.h"
#include "optimizers/quadratic_fit.h"
#include "optimizers/scalar_state.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kNoLossBound = 1e300;  // clips nothing, and times a noise of 0 is still 0

class Gen final : public LearningRateController {
 public:
  explicit Gen(const GenOptions& options) : options_(options) {}

  void begin(const Start& start) override {
    steps_ = start.steps;
    eta_ = options_.eta0;
    log_.clear();
  }

  bool wants_probe(std::int64_t step) const override { return step % options_.probe.interval == 0; }
  ProbeRequest request(std::int64_t) const override {
    return {.abscissas = symmetric_abscissas(eta_, options_.probe.pairs), .loss_bound = kNoLossBound};
  }

  void observe(std::int64_t step, const ProbeResult& result) override {
    const auto fit = fit_quadratic(result.abscissas, result.losses, options_.intercept);
    curvature_ = fit.curvature;
    slope_ = fit.slope;
    r2_ = fit.r2;
    log_.record(judge_fit(fit, result.losses, options_.r2_min));
    eta_ = next_rate(options_.fit, log_.last(), eta_, fit.minimum(), double(step) / double(steps_));
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
    std::map<std::string, double> values = {{"eta", eta_}};
    if (log_.total() > 0) values.insert({{"H", curvature_}, {"G", slope_}, {"r2", r2_}});
    return values;
  }
  std::map<std::string, std::int64_t> decisions() const override { return log_.counts(); }
  std::string last_decision() const override { return log_.last(); }
  std::string outcome() const override {
    return log_.total() > 0 && log_.count("accepted") == 0 ? "fit rejected throughout" : "";
  }

 private:
  const GenOptions options_;
  std::int64_t steps_ = 1;
  double eta_ = 0;
  double curvature_ = 0, slope_ = 0, r2_ = 0;  // of the last probe
  DecisionLog log_{
      {"accepted", "nonfinite_loss", "H_nonpositive", "G_nonpositive", "eta_nonfinite", "r2_low"}};
  ScalarState state_{{"eta", &eta_}, {"H", &curvature_}, {"G", &slope_}, {"r2", &r2_}};
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_gen(const GenOptions& options) {
  return std::unique_ptr<LearningRateController>(new Gen(options));
}

}  // namespace hyfreedp::optimizers
