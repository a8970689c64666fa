#include "optimizers/dadapt_adam.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class DAdaptAdam final : public Optimizer {
 public:
  explicit DAdaptAdam(const DAdaptAdamOptions& options) : options_(options) {}

  void begin(const torch::Tensor& parameters, const Layout& layout, const RunConstants&) override {
    spread_layer_scale(parameters, layout);
    weighted_sum_ = torch::zeros_like(parameters);
    first_ = torch::zeros_like(parameters);
    second_ = torch::zeros_like(parameters);
    k_ = numerator_ = 0;
    d_ = options_.d0;
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    const double step = d_ * learning_rate * bias_correction();
    seen_ = {.k = k_, .d_used = d_, .step = step};
    if (learning_rate > 0) accumulate(gradient, parameters, step);
    if (seen_.sk_l1 == 0) {
      direction.zero_();
      return;
    }
    seen_.skipped = false;
    estimate();
    direction.copy_(first_).div_(second_.sqrt().add_(options_.eps));
    if (options_.decouple && options_.weight_decay != 0)
      direction.add_(parameters, factor_for(parameters, options_.weight_decay * step));
    k_ += 1;
  }

  bool owns_step_size() const override { return true; }
  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override {
    return {{"s", weighted_sum_}, {"m", first_}, {"v", second_}};
  }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"d", d_},
            {"d_used", seen_.d_used},
            {"dlr", seen_.step},
            {"d_hat", seen_.d_hat},
            {"numerator", numerator_},
            {"sk_l1", seen_.sk_l1},
            {"k", seen_.k},
            {"skipped", seen_.skipped ? 1. : 0.}};
  }
  std::string outcome() const override { return k_ > 0 && d_ == options_.d0 ? "stuck at d0" : ""; }

 private:
  void spread_layer_scale(const torch::Tensor& parameters, const Layout& layout) {
    if (options_.layer_scale.empty()) return;
    HYFREEDP_CHECK(options_.layer_scale.size() == layout.size(),
                   "d-adapt-adam's layer_scale needs one factor for each of the model's " +
                       std::to_string(layout.size()) + " parameter tensors");
    scale_ = torch::ones_like(parameters);
    for (std::size_t i = 0; i < layout.size(); ++i) {
      scale_.narrow(0, layout[i].offset, layout[i].size).fill_(options_.layer_scale[i]);
    }
  }
  torch::Tensor scaled(const torch::Tensor& vector) const {
    return scale_.defined() ? vector.mul(scale_) : vector;
  }

  double bias_correction() const {
    if (!options_.use_bias_correction) return 1;
    return std::sqrt(1 - std::pow(options_.beta2, k_ + 1)) / (1 - std::pow(options_.beta1, k_ + 1));
  }

  void accumulate(const torch::Tensor& gradient, const torch::Tensor& parameters, double step) {
    torch::Tensor g = gradient;
    if (!options_.decouple && options_.weight_decay != 0) g = gradient.add(parameters, options_.weight_decay);
    const double keep = std::sqrt(options_.beta2);
    const torch::Tensor g_scaled = scaled(g);
    seen_.gain = step * sum_of_products(g_scaled, weighted_sum_.div(second_.sqrt().add_(options_.eps)));
    first_.mul_(options_.beta1).add_(g_scaled, factor_for(g, step * (1 - options_.beta1)));
    second_.mul_(options_.beta2).addcmul_(g, g, 1 - options_.beta2);
    weighted_sum_.mul_(keep).add_(g, factor_for(g, step * (1 - keep)));
    seen_.sk_l1 = sum_of_magnitudes(scaled(weighted_sum_));
  }

  void estimate() {
    const double keep = std::sqrt(options_.beta2);
    numerator_ = keep * numerator_ + (1 - keep) * seen_.gain;
    seen_.d_hat = numerator_ / ((1 - keep) * seen_.sk_l1);
    // std::max(a, NaN) is a: an unusable estimate leaves d alone.
    d_ = std::max(d_, std::min(seen_.d_hat, d_ * options_.growth_rate));
  }

  struct Seen {  // of the last step, for scalars()
    double k = 0, d_used = 0, step = 0;
    double gain = 0, sk_l1 = 0, d_hat = kNan;
    bool skipped = true;
  };

  const DAdaptAdamOptions options_;
  torch::Tensor scale_;         // r [d]; undefined: all 1
  torch::Tensor weighted_sum_;  // s [d]
  torch::Tensor first_, second_;
  double k_ = 0, d_ = 0, numerator_ = 0;
  Seen seen_;
  ScalarState state_{{"k", &k_}, {"d", &d_}, {"numerator", &numerator_}};
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_d_adapt_adam(const DAdaptAdamOptions& options) {
  return std::unique_ptr<Optimizer>(new DAdaptAdam(options));
}

}  // namespace hyfreedp::optimizers
