#include "optimizers/prodigy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Prodigy final : public Optimizer {
 public:
  explicit Prodigy(const ProdigyOptions& options)
      : options_(options), beta3_(options.beta3.value_or(std::sqrt(options.beta2))) {}

  void begin(const torch::Tensor& parameters, const Layout& layout, const RunConstants&) override {
    choose_entries(parameters, layout);
    start_ = sliced(parameters).clone();
    weighted_sum_ = torch::zeros_like(start_);
    first_ = torch::zeros_like(parameters);
    second_ = torch::zeros_like(parameters);
    k_ = numerator_ = 0;
    d_ = d_max_ = options_.d0;
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    const double step = d_ * learning_rate * bias_correction();
    seen_ = {.k = k_, .d_used = d_, .step = step};
    if (learning_rate > 0) accumulate(gradient, parameters, step);
    if (seen_.denominator == 0) {
      direction.zero_();
      return;
    }
    seen_.skipped = false;
    estimate();
    direction.copy_(first_)
        .div_(second_.sqrt().add_(factor_for(direction, d_ * options_.eps)))
        .mul_(factor_for(direction, step));
    if (options_.decouple && options_.weight_decay != 0)
      direction.add_(parameters, factor_for(parameters, options_.weight_decay * step));
    k_ += 1;
  }

  bool owns_step_size() const override { return true; }
  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override {
    return {{"x0", start_}, {"s", weighted_sum_}, {"m", first_}, {"v", second_}};
  }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"d", d_},
            {"d_used", seen_.d_used},
            {"dlr", seen_.step},
            {"d_max", d_max_},
            {"d_hat", seen_.d_hat},
            {"numerator", numerator_},
            {"k", seen_.k},
            {"denominator", seen_.denominator},
            {"skipped", seen_.skipped ? 1. : 0.}};
  }
  std::string outcome() const override { return k_ > 0 && d_ == options_.d0 ? "stuck at d0" : ""; }

 private:
  void choose_entries(const torch::Tensor& parameters, const Layout& layout) {
    if (options_.slice_p == 1) return;
    std::vector<torch::Tensor> pieces;
    for (const auto& tensor : layout) {
      pieces.push_back(torch::arange(tensor.offset, tensor.offset + tensor.size, options_.slice_p,
                                     torch::dtype(torch::kLong).device(parameters.device())));
    }
    HYFREEDP_CHECK(!pieces.empty(), "Prodigy's slice_p needs the layout of the parameters");
    entries_ = at::cat(pieces);
  }
  torch::Tensor sliced(const torch::Tensor& vector) const {
    return entries_.defined() ? vector.index_select(0, entries_) : vector;
  }

  double bias_correction() const {
    if (!options_.use_bias_correction) return 1;
    return std::sqrt(1 - std::pow(options_.beta2, k_ + 1)) / (1 - std::pow(options_.beta1, k_ + 1));
  }

  void accumulate(const torch::Tensor& gradient, const torch::Tensor& parameters, double step) {
    torch::Tensor g = gradient;
    if (!options_.decouple && options_.weight_decay != 0) g = gradient.add(parameters, options_.weight_decay);
    const torch::Tensor g_sliced = sliced(g);
    const double relative = d_ / options_.d0;
    seen_.gain = relative * step * sum_of_products(g_sliced, start_.sub(sliced(parameters)));
    first_.mul_(options_.beta1).add_(g, factor_for(g, d_ * (1 - options_.beta1)));
    second_.mul_(options_.beta2).addcmul_(g, g, factor_for(g, d_ * d_ * (1 - options_.beta2)));
    weighted_sum_.mul_(beta3_).add_(g_sliced,
                                    factor_for(g, relative * (options_.safeguard_warmup ? d_ : step)));
    seen_.denominator = sum_of_magnitudes(weighted_sum_);
  }

  void estimate() {
    numerator_ = beta3_ * numerator_ + seen_.gain;
    seen_.d_hat = options_.d_coef * numerator_ / seen_.denominator;
    // std::max(a, NaN) is a: an unusable estimate leaves d alone.
    if (d_ == options_.d0) d_ = std::max(d_, seen_.d_hat);
    d_max_ = std::max(d_max_, seen_.d_hat);
    d_ = std::min(d_max_, d_ * options_.growth_rate);
  }

  struct Seen {  // of the last step, for scalars()
    double k = 0, d_used = 0, step = 0;
    double gain = 0, denominator = 0, d_hat = kNan;
    bool skipped = true;
  };

  const ProdigyOptions options_;
  const double beta3_;
  torch::Tensor entries_;       // indices of the entries that slice_p keeps; undefined: all
  torch::Tensor start_;         // x0 at those entries
  torch::Tensor weighted_sum_;  // s
  torch::Tensor first_, second_;
  double k_ = 0, d_ = 0, d_max_ = 0, numerator_ = 0;
  Seen seen_;
  ScalarState state_{{"k", &k_}, {"d", &d_}, {"d_max", &d_max_}, {"numerator", &numerator_}};
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_prodigy(const ProdigyOptions& options) {
  return std::unique_ptr<Optimizer>(new Prodigy(options));
}

}  // namespace hyfreedp::optimizers
