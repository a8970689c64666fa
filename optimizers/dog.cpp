#include "optimizers/dog.h"

#include <algorithm>
#include <cmath>

#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kAverageGamma = 8;

class Dog final : public Optimizer {
 public:
  explicit Dog(const DogOptions& options) : options_(options) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    start_ = parameters.clone();
    if (options_.end.average) average_ = parameters.clone();
    rbar_ = options_.reps_rel * (1 + std::sqrt(sum_of_squares(parameters)));
    squares_ = options_.eps;
    t_ = 0;
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    distance_ = std::sqrt(sum_of_squares(parameters.sub(start_)));
    rbar_ = std::max(rbar_, distance_);
    direction.copy_(gradient);
    if (options_.weight_decay != 0) direction.add_(parameters, options_.weight_decay);
    squares_ += sum_of_squares(direction);
    const double root = std::sqrt(squares_);
    eta_ = root == 0 ? 0 : learning_rate * rbar_ / root;
    // Divided first: eta alone may be out of float32's range where its product with a tiny gradient
    // is not.
    if (root > 0)
      direction.div_(factor_for(direction, root)).mul_(factor_for(direction, learning_rate * rbar_));
    t_ += 1;
    if (options_.end.average) {
      const double weight = (1 + kAverageGamma) / (t_ + kAverageGamma);
      average_.mul_(1 - weight).add_(parameters.sub(direction), weight);
    }
  }

  bool owns_step_size() const override { return true; }
  torch::Tensor evaluation_parameters() const override { return average_; }
  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override {
    std::vector<std::pair<std::string, torch::Tensor>> state = {{"x0", start_}};
    if (options_.end.average) state.emplace_back("average", average_);
    return state;
  }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"distance", distance_}, {"rbar", rbar_}, {"G", squares_}, {"eta", eta_}};
  }

 private:
  const DogOptions options_;
  torch::Tensor start_;    // x0 [d]
  torch::Tensor average_;  // [d]; undefined without `average`
  double rbar_ = 0, squares_ = 0, t_ = 0;
  double distance_ = 0, eta_ = 0;
  ScalarState state_{{"rbar", &rbar_}, {"G", &squares_}, {"t", &t_}};
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_dog(const DogOptions& options) {
  return std::unique_ptr<Optimizer>(new Dog(options));
}

}  // namespace hyfreedp::optimizers
