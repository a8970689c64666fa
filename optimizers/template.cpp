#include "optimizers/template.h"

#include "optimizers/option_values.h"
#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

class Signum final : public Optimizer {
 public:
  explicit Signum(double beta1) : beta1_(beta1) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    mean_ = torch::zeros_like(parameters);
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor&, double,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    mean_.mul_(beta1_).add_(gradient, 1 - beta1_);
    direction.copy_(mean_.sgn());
  }

  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override { return {{"mean", mean_}}; }
  std::map<std::string, double> scalars() const override {
    return {{"mean_norm", std::sqrt(sum_of_squares(mean_))}};
  }

 private:
  const double beta1_;
  torch::Tensor mean_;  // m [d]
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_signum(const json::object& options) {
  return std::unique_ptr<Optimizer>(new Signum(real(options, "beta1")));
}

}  // namespace hyfreedp::optimizers
