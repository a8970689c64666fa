#include "optimizers/dpadamwosm.h"

#include <ATen/Dispatch.h>
#include <cmath>

#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

class DpAdamWosm final : public Optimizer {
 public:
  explicit DpAdamWosm(const DpAdamWosmOptions& options) : rule_{options} {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants& constants) override {
    t_ = 0;
    rule_.denominator = constants.noise_multiplier * constants.sensitivity / constants.batch_size + rule_.xi;
    moment_ = torch::zeros_like(parameters);
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    if (const auto work = advance_by_pieces(gradient, parameters, learning_rate, direction)) {
      work(0, gradient.numel());
      return;
    }
    count_step(learning_rate);
    wosm_direction(rule_, std::int64_t(t_), gradient, parameters, moment_, direction);
  }

  PieceWork advance_by_pieces(const torch::Tensor& gradient, const torch::Tensor& parameters,
                              double learning_rate, torch::Tensor& direction) override {
    if (!can_fuse({&gradient, &parameters, &moment_, &direction})) return {};
    count_step(learning_rate);
    return wosm_pieces(rule_, std::int64_t(t_), gradient, parameters, moment_, direction);
  }

  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override { return {{"m", moment_}}; }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"effective_step_size", effective_step_size_},
            {"bias_correction1", 1 - std::pow(rule_.beta1, t_)},
            {"m_norm", std::sqrt(sum_of_squares(moment_))}};
  }

 private:
  void count_step(double learning_rate) {
    t_ += 1;
    effective_step_size_ = learning_rate / rule_.denominator;
  }

  WosmRule rule_;
  torch::Tensor moment_;  // [d]
  double t_ = 0;          // steps taken
  double effective_step_size_ = 0;
  ScalarState state_{{"t", &t_}, {"effective_step_size", &effective_step_size_}};
};

template <class T>
struct Vectors {
  const T* gradient;
  const T* parameters;
  T* moment;
  T* direction;
};

template <class T>
void wosm_pass(const WosmRule& rule, std::int64_t t, std::int64_t begin, std::int64_t end,
               const Vectors<T>& at) {
  const T beta1 = T(rule.beta1), rest = T(1 - rule.beta1);
  const T decay = T(rule.weight_decay);
  const T scale = T(1 / (1 - std::pow(rule.beta1, double(t))) / rule.denominator);
#pragma GCC ivdep  // direction and gradient may be one
  for (std::int64_t i = begin; i < end; ++i) {
    const T g = decay == 0 ? at.gradient[i] : at.gradient[i] + decay * at.parameters[i];
    const T m = beta1 * at.moment[i] + rest * g;
    at.moment[i] = m;
    at.direction[i] = m * scale;
  }
}

}  // namespace

void wosm_direction(const WosmRule& rule, std::int64_t t, const torch::Tensor& gradient,
                    const torch::Tensor& parameters, torch::Tensor& moment, torch::Tensor& direction) {
  moment.mul_(rule.beta1).add_(gradient, 1 - rule.beta1);
  if (rule.weight_decay != 0) moment.add_(parameters, rule.weight_decay * (1 - rule.beta1));
  direction.copy_(moment).mul_(
      factor_for(direction, 1 / (1 - std::pow(rule.beta1, double(t))) / rule.denominator));
}

PieceWork wosm_pieces(const WosmRule& rule, std::int64_t t, const torch::Tensor& gradient,
                      const torch::Tensor& parameters, torch::Tensor& moment, torch::Tensor& direction) {
  return AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "dpadamwosm", [&]() -> PieceWork {
    const Vectors<scalar_t> at{gradient.const_data_ptr<scalar_t>(), parameters.const_data_ptr<scalar_t>(),
                               moment.data_ptr<scalar_t>(), direction.data_ptr<scalar_t>()};
    return [rule, t, at](std::int64_t begin, std::int64_t end) { wosm_pass(rule, t, begin, end, at); };
  });
}

Result<std::unique_ptr<Optimizer>> make_dpadamwosm(const DpAdamWosmOptions& options) {
  return std::unique_ptr<Optimizer>(new DpAdamWosm(options));
}

}  // namespace hyfreedp::optimizers
