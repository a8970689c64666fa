#include "optimizers/constant.h"

namespace hyfreedp::optimizers {
namespace {

class Constant final : public LearningRateController {
 public:
  explicit Constant(const ConstantOptions& options) : options_(options) {}
  void begin(const Start&) override {}
  double learning_rate(std::int64_t) const override { return options_.lr; }

 private:
  const ConstantOptions options_;
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_constant(const ConstantOptions& options) {
  return std::unique_ptr<LearningRateController>(new Constant(options));
}

}  // namespace hyfreedp::optimizers
