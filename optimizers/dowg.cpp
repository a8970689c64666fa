#include "optimizers/dowg.h"

#include <algorithm>
#include <cmath>

#include "optimizers/option_values.h"
#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

struct Rule {
  double reps_rel;
  double rt2_init;  // 0: from reps_rel
  double eps_den;
};

class Dowg final : public Optimizer {
 public:
  explicit Dowg(const Rule& rule) : rule_(rule) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    start_ = parameters.clone();
    const double radius = rule_.reps_rel * (1 + std::sqrt(sum_of_squares(parameters)));
    radius_squared_ = rule_.rt2_init > 0 ? rule_.rt2_init : radius * radius;
    weighted_squares_ = 0;
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    const double distance_squared = sum_of_squares(parameters.sub(start_));
    distance_ = std::sqrt(distance_squared);
    radius_squared_ = std::max(radius_squared_, distance_squared);
    weighted_squares_ += radius_squared_ * sum_of_squares(gradient);
    const double denominator = std::sqrt(weighted_squares_) + rule_.eps_den;
    eta_ = denominator == 0 ? 0 : learning_rate * radius_squared_ / denominator;
    direction.copy_(gradient);
    // Divided first: eta alone may be out of float32's range where its product with a tiny gradient
    // is not.
    if (denominator > 0) {
      direction.div_(factor_for(direction, denominator))
          .mul_(factor_for(direction, learning_rate * radius_squared_));
    }
  }

  bool owns_step_size() const override { return true; }
  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override { return {{"x0", start_}}; }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"distance", distance_}, {"rbar_sq", radius_squared_}, {"v", weighted_squares_}, {"eta", eta_}};
  }

 private:
  const Rule rule_;
  torch::Tensor start_;  // x0 [d]
  double radius_squared_ = 0, weighted_squares_ = 0;
  double distance_ = 0, eta_ = 0;
  ScalarState state_{{"rbar_sq", &radius_squared_}, {"v", &weighted_squares_}};
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_dowg(const json::object& options) {
  const Rule rule{.reps_rel = real(options, "reps_rel"),
                  .rt2_init = real_or(options, "rt2_init", 0),
                  .eps_den = real(options, "eps_den")};
  return std::unique_ptr<Optimizer>(new Dowg(rule));
}

}  // namespace hyfreedp::optimizers
