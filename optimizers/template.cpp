#include "optimizers/template.h"

#include "optimizers/sums.h"
#include "optimizers/vectors.h"

namespace hyfreedp::optimizers {
namespace {

class Signum final : public Optimizer {
 public:
  explicit Signum(const SignumOptions& options) : options_(options) {}

  void begin(const torch::Tensor& parameters, const Layout&, const RunConstants&) override {
    mean_ = torch::zeros_like(parameters);
  }

  void advance(const torch::Tensor& gradient, const torch::Tensor&, double,
               torch::Tensor& direction) override {
    shape_like(gradient, direction);
    mean_.mul_(options_.beta1).add_(gradient, 1 - options_.beta1);
    direction.copy_(mean_.sgn());
  }

  std::vector<std::pair<std::string, torch::Tensor>> state_tensors() override { return {{"mean", mean_}}; }
  std::map<std::string, double> scalars() const override {
    return {{"mean_norm", std::sqrt(sum_of_squares(mean_))}};
  }

 private:
  const SignumOptions options_;
  torch::Tensor mean_;  // m [d]
};

}  // namespace

Result<std::unique_ptr<Optimizer>> make_signum(const SignumOptions& options) {
  return std::unique_ptr<Optimizer>(new Signum(options));
}

}  // namespace hyfreedp::optimizers
