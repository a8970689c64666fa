#include "optimizers/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "optimizers/option_values.h"

namespace hyfreedp::optimizers {
namespace {

struct Rule {
  double lr, final;
  std::int64_t warmup;
  std::string decay;
};

class Schedule final : public LearningRateController {
 public:
  explicit Schedule(Rule rule) : rule_(std::move(rule)) {}
  void begin(const Start& start) override { steps_ = start.steps; }

  double learning_rate(std::int64_t step) const override {
    if (step < rule_.warmup) return rule_.lr * double(step + 1) / double(rule_.warmup);
    const auto decaying = std::max<std::int64_t>(1, steps_ - rule_.warmup);
    const double progress = std::min(1.0, double(step - rule_.warmup) / double(decaying));
    return rule_.lr * (rule_.final + (1 - rule_.final) * shape(progress));
  }

 private:
  double shape(double progress) const {
    if (rule_.decay == "linear") return 1 - progress;
    if (rule_.decay == "cosine") return 0.5 * (1 + std::cos(std::numbers::pi * progress));
    return 1;
  }

  const Rule rule_;
  std::int64_t steps_ = 0;
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_schedule(const json::object& options) {
  return std::unique_ptr<LearningRateController>(new Schedule({.lr = real(options, "lr"),
                                                               .final = real(options, "final"),
                                                               .warmup = integer(options, "warmup"),
                                                               .decay = text(options, "decay")}));
}

}  // namespace hyfreedp::optimizers
