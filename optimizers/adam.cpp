#include "optimizers/adam.h"

#include <ATen/Dispatch.h>
#include <cmath>

#include "optimizers/option_values.h"
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
    t_ += 1;
    const bool fuse = can_fuse({&gradient, &parameters, &moments_.first, &moments_.second, &direction});
    (fuse ? adam_direction_fused : adam_direction)(rule_, std::int64_t(t_), gradient, parameters, moments_,
                                                   direction);
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
  const AdamRule rule_;
  AdamMoments moments_;
  double t_ = 0;  // steps taken
  ScalarState state_{{"t", &t_}};
};

template <class T>
struct Vectors {
  const T* gradient;
  const T* parameters;
  T* first;
  T* second;
  T* largest;  // null without amsgrad
  T* direction;
};

template <class T>
void adam_pass(const AdamRule& rule, std::int64_t t, std::int64_t size, const Vectors<T>& at) {
  const T beta1 = T(rule.beta1), rest1 = T(1 - rule.beta1);
  const T beta2 = T(rule.beta2), rest2 = T(1 - rule.beta2);
  const T unbias1 = T(1 / (1 - std::pow(rule.beta1, double(t))));
  const T unbias2 = T(1 / std::sqrt(1 - std::pow(rule.beta2, double(t))));
  const T eps = T(rule.eps);
  const T coupled = rule.decoupled ? T(0) : T(rule.weight_decay);
  const T decoupled = rule.decoupled ? T(rule.weight_decay) : T(0);
  for (std::int64_t i = 0; i < size; ++i) {
    const T g = coupled == 0 ? at.gradient[i] : at.gradient[i] + coupled * at.parameters[i];
    const T m = beta1 * at.first[i] + rest1 * g;
    const T v = beta2 * at.second[i] + rest2 * (g * g);
    at.first[i] = m;
    at.second[i] = v;
    T root = v;
    if (at.largest != nullptr) {
      root = at.largest[i] >= v ? at.largest[i] : v;  // NaN in v is kept, as at::maximum does
      at.largest[i] = root;
    }
    const T step = m * unbias1 / (std::sqrt(root) * unbias2 + eps);
    at.direction[i] = decoupled == 0 ? step : step + decoupled * at.parameters[i];
  }
}

AdamRule rule_of(const json::object& options, bool decoupled) {
  return {.beta1 = real(options, "beta1"),
          .beta2 = real(options, "beta2"),
          .eps = real(options, "eps"),
          .weight_decay = real(options, "weight_decay"),
          .decoupled = decoupled,
          .amsgrad = flag(options, "amsgrad")};
}

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

void adam_direction_fused(const AdamRule& rule, std::int64_t t, const torch::Tensor& gradient,
                          const torch::Tensor& parameters, AdamMoments& moments, torch::Tensor& direction) {
  AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "adam", [&] {
    const Vectors<scalar_t> at{gradient.const_data_ptr<scalar_t>(),
                               parameters.const_data_ptr<scalar_t>(),
                               moments.first.data_ptr<scalar_t>(),
                               moments.second.data_ptr<scalar_t>(),
                               rule.amsgrad ? moments.largest_second.data_ptr<scalar_t>() : nullptr,
                               direction.data_ptr<scalar_t>()};
    adam_pass(rule, t, gradient.numel(), at);
  });
}

Result<std::unique_ptr<Optimizer>> make_adam(const json::object& options) {
  return std::unique_ptr<Optimizer>(new Adam(rule_of(options, false)));
}

Result<std::unique_ptr<Optimizer>> make_adamw(const json::object& options) {
  return std::unique_ptr<Optimizer>(new Adam(rule_of(options, true)));
}

}  // namespace hyfreedp::optimizers
