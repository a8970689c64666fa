#include "optimizers/dadapt_sgd.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class DAdaptSgd final : public Optimizer {
 public:
  explicit DAdaptSgd(const DAdaptSgdOptions& options) : options_(options) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    start_ = parameters.clone();
    sum_ = torch::zeros_like(parameters);
    k_ = g0_norm_ = numerator_ = 0;
    d_ = options_.d0;
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    if (k_ == 0) g0_norm_ = std::sqrt(sum_of_squares(gradient));
    seen_ = {.k = k_, .d_used = d_};
    if (g0_norm_ == 0) {
      direction.zero_();
      return;
    }
    seen_.skipped = false;
    seen_.step = d_ * learning_rate / g0_norm_;
    torch::Tensor g = gradient;
    if (options_.weight_decay != 0) g = gradient.add(parameters, options_.weight_decay);
    numerator_ += seen_.step * sum_of_products(g, sum_);
    sum_.add_(g, factor_for(g, seen_.step));
    seen_.sk_norm = std::sqrt(sum_of_squares(sum_));
    if (learning_rate > 0) {
      seen_.d_hat = 2 * numerator_ / seen_.sk_norm;
      // std::max(a, NaN) is a: an unusable estimate leaves d alone.
      d_ = std::max(d_, std::min(seen_.d_hat, d_ * options_.growth_rate));
    }
    direction.copy_(parameters).sub_(start_).add_(sum_).mul_(1 - options_.momentum);
    k_ += 1;
  }

  bool owns_step_size() const override { return true; }
  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override {
    return {{"x0", start_}, {"s", sum_}};
  }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"d", d_},
            {"d_used", seen_.d_used},
            {"dlr", seen_.step},
            {"d_hat", seen_.d_hat},
            {"g0_norm", g0_norm_},
            {"numerator", numerator_},
            {"sk_norm", seen_.sk_norm},
            {"k", seen_.k},
            {"skipped", seen_.skipped ? 1. : 0.}};
  }
  std::string outcome() const override { return k_ > 0 && d_ == options_.d0 ? "stuck at d0" : ""; }

 private:
  struct Seen {  // of the last step, for scalars()
    double k = 0, d_used = 0, step = kNan, sk_norm = 0, d_hat = kNan;
    bool skipped = true;
  };

  const DAdaptSgdOptions options_;
  torch::Tensor start_;  // x0 [d]
  torch::Tensor sum_;    // s [d]
  double k_ = 0, d_ = 0, g0_norm_ = 0, numerator_ = 0;
  Seen seen_;
  ScalarState state_{{"k", &k_}, {"d", &d_}, {"g0_norm", &g0_norm_}, {"numerator", &numerator_}};
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_d_adapt_sgd(const DAdaptSgdOptions& options) {
  return std::unique_ptr<Optimizer>(new DAdaptSgd(options));
}

}  // namespace hyfreedp::optimizers
