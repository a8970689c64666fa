#include "optimizers/dog.h"

#include <algorithm>
#include <cmath>

#include "optimizers/option_values.h"
#include "optimizers/scalar_state.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

constexpr double kAverageGamma = 8;

struct Rule {
  double reps_rel, eps, weight_decay;
  bool average;
};

class Dog final : public Optimizer {
 public:
  explicit Dog(const Rule& rule) : rule_(rule) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    start_ = parameters.clone();
    if (rule_.average) average_ = parameters.clone();
    rbar_ = rule_.reps_rel * (1 + std::sqrt(sum_of_squares(parameters)));
    squares_ = rule_.eps;
    t_ = 0;
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    distance_ = std::sqrt(sum_of_squares(parameters.sub(start_)));
    rbar_ = std::max(rbar_, distance_);
    direction.copy_(gradient);
    if (rule_.weight_decay != 0) direction.add_(parameters, rule_.weight_decay);
    squares_ += sum_of_squares(direction);
    const double root = std::sqrt(squares_);
    eta_ = root == 0 ? 0 : learning_rate * rbar_ / root;
    // Divided first: eta alone may be out of float32's range where its product with a tiny gradient
    // is not.
    if (root > 0)
      direction.div_(factor_for(direction, root)).mul_(factor_for(direction, learning_rate * rbar_));
    t_ += 1;
    if (rule_.average) {
      const double weight = (1 + kAverageGamma) / (t_ + kAverageGamma);
      average_.mul_(1 - weight).add_(parameters.sub(direction), weight);
    }
  }

  bool owns_step_size() const override { return true; }
  torch::Tensor evaluation_parameters() const override { return average_; }
  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override {
    std::vector<std::pair<std::string, torch::Tensor>> state = {{"x0", start_}};
    if (rule_.average) state.emplace_back("average", average_);
    return state;
  }
  std::map<std::string, double> state_scalars() const override { return state_.save(); }
  void restore_scalars(const std::map<std::string, double>& scalars) override { state_.restore(scalars); }
  std::map<std::string, double> scalars() const override {
    return {{"distance", distance_}, {"rbar", rbar_}, {"G", squares_}, {"eta", eta_}};
  }

 private:
  const Rule rule_;
  torch::Tensor start_;    // x0 [d]
  torch::Tensor average_;  // [d]; undefined without `average`
  double rbar_ = 0, squares_ = 0, t_ = 0;
  double distance_ = 0, eta_ = 0;
  ScalarState state_{{"rbar", &rbar_}, {"G", &squares_}, {"t", &t_}};
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_dog(const json::object& options) {
  const Rule rule{.reps_rel = real(options, "reps_rel"),
                  .eps = real(options, "eps"),
                  .weight_decay = real(options, "weight_decay"),
                  .average = flag(options, "average")};
  return std::unique_ptr<Optimizer>(new Dog(rule));
}

}  // namespace hyfreedp::optimizers
