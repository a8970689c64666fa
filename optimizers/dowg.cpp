#include "optimizers/dowg.h"

#include <algorithm>
#include <cmath>

#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

class Dowg final : public Optimizer {
 public:
  explicit Dowg(const DowgOptions& options) : options_(options) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    start_ = parameters.clone();
    const double radius = options_.reps_rel * (1 + std::sqrt(sum_of_squares(parameters)));
    radius_squared_ = options_.rt2_init.value_or(radius * radius);
    weighted_squares_ = 0;
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    const double distance_squared = sum_of_squares(parameters.sub(start_));
    distance_ = std::sqrt(distance_squared);
    radius_squared_ = std::max(radius_squared_, distance_squared);
    weighted_squares_ += radius_squared_ * sum_of_squares(gradient);
    const double denominator = std::sqrt(weighted_squares_) + options_.eps_den;
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
  const DowgOptions options_;
  torch::Tensor start_;  // x0 [d]
  double radius_squared_ = 0, weighted_squares_ = 0;
  double distance_ = 0, eta_ = 0;
  ScalarState state_{{"rbar_sq", &radius_squared_}, {"v", &weighted_squares_}};
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_dowg(const DowgOptions& options) {
  return std::unique_ptr<Optimizer>(new Dowg(options));
}

}  // namespace hyfreedp::optimizers
