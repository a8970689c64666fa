#include "optimizers/adam.h"

#include <ATen/Dispatch.h>
#include <cmath>

#include "harness/kernels/kernels.h"
#include "optimizers/adam_pass.h"
#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

class Adam final : public Optimizer {
 public:
  explicit Adam(const AdamRule& rule) : rule_(rule) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    t_ = 0;
    moments_.first = torch::zeros_like(parameters);
    moments_.second = torch::zeros_like(parameters);
    if (rule_.amsgrad) moments_.largest_second = torch::zeros_like(parameters);
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    if (const auto work = advance_by_pieces(gradient, parameters, 0, direction)) {
      work(0, gradient.numel());
      return;
    }
    t_ += 1;
    adam_direction(rule_, std::int64_t(t_), gradient, parameters, moments_, direction);
  }

  PieceWork advance_by_pieces(const torch::Tensor& gradient, const torch::Tensor& parameters, double,
                              torch::Tensor& direction) override {
    if (can_run_on_device({&gradient, &parameters, &moments_.first, &moments_.second, &direction})) {
      t_ += 1;
      return on_device(gradient, parameters, direction);
    }
    if (!can_fuse({&gradient, &parameters, &moments_.first, &moments_.second, &direction})) return {};
    t_ += 1;
    return adam_pieces(rule_, std::int64_t(t_), gradient, parameters, moments_, direction);
  }

  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override {
    std::vector<std::pair<std::string, torch::Tensor>> state = {{"m", moments_.first},
                                                                {"v", moments_.second}};
    if (rule_.amsgrad) state.emplace_back("v_max", moments_.largest_second);
    return state;
  }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"bias_correction1", 1 - std::pow(rule_.beta1, t_)},
            {"bias_correction2", 1 - std::pow(rule_.beta2, t_)},
            {"m_norm", std::sqrt(sum_of_squares(moments_.first))},
            {"v_sum", sum_of_magnitudes(moments_.second)}};
  }

 private:
  // Step t_ as one kernel over whole vectors, so there is one piece.
  PieceWork on_device(const torch::Tensor& gradient, const torch::Tensor& parameters,
                      const torch::Tensor& direction) const {
    const kernels::AdamNumbers with{.beta1 = rule_.beta1,
                                    .rest1 = 1 - rule_.beta1,
                                    .beta2 = rule_.beta2,
                                    .rest2 = 1 - rule_.beta2,
                                    .unbias1 = 1 / (1 - std::pow(rule_.beta1, t_)),
                                    .unbias2 = 1 / std::sqrt(1 - std::pow(rule_.beta2, t_)),
                                    .eps = rule_.eps,
                                    .coupled = rule_.decoupled ? 0 : rule_.weight_decay,
                                    .decoupled = rule_.decoupled ? rule_.weight_decay : 0};
    const kernels::StepVectors vectors{
        gradient, parameters, moments_.first, moments_.second, moments_.largest_second, direction};
    return [with, vectors](std::int64_t begin, std::int64_t end) {
      HYFREEDP_CHECK(begin == 0 && end == vectors.gradient.numel(), "a kernel takes whole vectors");
      auto all = vectors;
      kernels::adam_step(with, all);
    };
  }

  const AdamRule rule_;
  AdamMoments moments_;
  double t_ = 0;  // steps taken
  ScalarState state_{{"t", &t_}};
};

}  // namespace

void adam_direction(const AdamRule& rule, std::int64_t t, const torch::Tensor& gradient,
                    const torch::Tensor& parameters, AdamMoments& moments, torch::Tensor& direction) {
  torch::Tensor g = gradient;
  if (!rule.decoupled && rule.weight_decay != 0) g = gradient.add(parameters, rule.weight_decay);
  moments.first.mul_(rule.beta1).add_(g, 1 - rule.beta1);
  moments.second.mul_(rule.beta2).add_(g.square(), 1 - rule.beta2);
  if (rule.amsgrad) moments.largest_second.copy_(at::maximum(moments.largest_second, moments.second));
  const double unbias1 = 1 / (1 - std::pow(rule.beta1, double(t)));
  const double unbias2 = 1 / std::sqrt(1 - std::pow(rule.beta2, double(t)));
  const auto& second = rule.amsgrad ? moments.largest_second : moments.second;
  direction.copy_(moments.first.mul(unbias1).div_(second.sqrt().mul_(unbias2).add_(rule.eps)));
  if (rule.decoupled && rule.weight_decay != 0) direction.add_(parameters, rule.weight_decay);
}

PieceWork adam_pieces(const AdamRule& rule, std::int64_t t, const torch::Tensor& gradient,
                      const torch::Tensor& parameters, AdamMoments& moments, torch::Tensor& direction) {
  return AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "adam", [&]() -> PieceWork {
    const AdamVectors<scalar_t> at{gradient.const_data_ptr<scalar_t>(),
                                   parameters.const_data_ptr<scalar_t>(),
                                   moments.first.data_ptr<scalar_t>(),
                                   moments.second.data_ptr<scalar_t>(),
                                   rule.amsgrad ? moments.largest_second.data_ptr<scalar_t>() : nullptr,
                                   direction.data_ptr<scalar_t>()};
    return [rule, t, at](std::int64_t begin, std::int64_t end) { adam_pass(rule, t, begin, end, at); };
  });
}

Result<std::unique_ptr<Optimizer>> make_adam(const AdamOptions& options) {
  return std::unique_ptr<Optimizer>(new Adam({options, false}));
}

Result<std::unique_ptr<Optimizer>> make_adamw(const AdamwOptions& options) {
  return std::unique_ptr<Optimizer>(new Adam({options.adam, true}));
}

}  // namespace hyfreedp::optimizers
