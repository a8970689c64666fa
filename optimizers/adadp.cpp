#include "optimizers/adadp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Adadp final : public Optimizer {
 public:
  explicit Adadp(const AdadpOptions& options) : options_(options) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    pair_start_ = parameters.clone();
    full_step_ = parameters.clone();
    lr_ = options_.lr0;
    second_half_ = updates_ = rejections_ = 0;
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    lr_used_ = lr_ * learning_rate;
    err_ = factor_ = accepted_ = kNan;
    direction.copy_(gradient).mul_(factor_for(direction, lr_used_ / 2));
    if (second_half_ == 0) {
      pair_start_.copy_(parameters);
      full_step_.copy_(parameters).sub_(gradient, factor_for(gradient, lr_used_));
    } else {
      judge(parameters, direction);
    }
    second_half_ = 1 - second_half_;
  }

  bool owns_step_size() const override { return true; }
  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override {
    return {{"pair_start", pair_start_}, {"full_step", full_step_}};
  }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"lr_used", lr_used_},   {"err", err_},    {"factor", factor_},
            {"accepted", accepted_}, {"lr_next", lr_}, {"rejections", rejections_}};
  }
  std::string outcome() const override {
    return updates_ > 0 && rejections_ == updates_ ? "every update rejected" : "";
  }

 private:
  void judge(const torch::Tensor& parameters, torch::Tensor& direction) {
    const auto two_halves = parameters.sub(direction);
    const auto difference = full_step_.sub(two_halves).div_(full_step_.abs().clamp_min_(1));
    err_ = std::sqrt(sum_of_squares(difference));
    const bool finite = std::isfinite(err_);
    factor_ = finite
                  ? std::clamp(std::pow(options_.tol / err_, options_.exponent), options_.amin, options_.amax)
                  : options_.amin;
    const bool keep = finite && (err_ <= options_.tol || !options_.stability_check);
    if (!keep) direction.copy_(parameters).sub_(pair_start_);
    accepted_ = keep ? 1 : 0;
    updates_ += 1;
    rejections_ += keep ? 0 : 1;
    lr_ *= factor_;
  }

  const AdadpOptions options_;
  torch::Tensor pair_start_;  // weights before the pair [d]
  torch::Tensor full_step_;   // where one full step would have led [d]
  double lr_ = 0, second_half_ = 0, updates_ = 0, rejections_ = 0;
  double lr_used_ = 0, err_ = kNan, factor_ = kNan, accepted_ = kNan;
  ScalarState state_{
      {"lr", &lr_}, {"second_half", &second_half_}, {"updates", &updates_}, {"rejections", &rejections_}};
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_adadp(const AdadpOptions& options) {
  return std::unique_ptr<Optimizer>(new Adadp(options));
}

}  // namespace hyfreedp::optimizers
