#include "optimizers/constant.h"

#include "optimizers/option_values.h"

namespace hyfreedp::optimizers {
namespace {

class Constant final : public LearningRateController {
 public:
  explicit Constant(double lr) : lr_(lr) {}
  void begin(const Start&) override {}
  double learning_rate(std::int64_t) const override { return lr_; }

 private:
  const double lr_;
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_constant(const json::object& options) {
  return std::unique_ptr<LearningRateController>(new Constant(real(options, "lr")));
}

}  // namespace hyfreedp::optimizers
