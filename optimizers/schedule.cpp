#include "optimizers/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hyfreedp::optimizers {
namespace {

class Schedule final : public LearningRateController {
 public:
  explicit Schedule(const ScheduleOptions& options) : options_(options) {}
  void begin(const Start& start) override { steps_ = start.steps; }

  double learning_rate(std::int64_t step) const override {
    if (step < options_.warmup) return options_.lr * double(step + 1) / double(options_.warmup);
    const auto decaying = std::max<std::int64_t>(1, steps_ - options_.warmup);
    const double progress = std::min(1.0, double(step - options_.warmup) / double(decaying));
    return options_.lr * (options_.final + (1 - options_.final) * shape(progress));
  }

 private:
  double shape(double progress) const {
    if (options_.decay == RateDecay::linear) return 1 - progress;
    if (options_.decay == RateDecay::cosine) return 0.5 * (1 + std::cos(std::numbers::pi * progress));
    return 1;
  }

  const ScheduleOptions options_;
  std::int64_t steps_ = 0;
};

}  // namespace

Result<std::unique_ptr<LearningRateController>> make_schedule(const ScheduleOptions& options) {
  return std::unique_ptr<LearningRateController>(new Schedule(options));
}

}  // namespace hyfreedp::optimizers
