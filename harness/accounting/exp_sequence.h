// e^{rate * step * k}, k = 0, 1, 2, ... by products, restarted often enough to stay within 5e-15 of
// the true value.
#pragma once

#include <cmath>
#include <cstdint>

namespace hyfreedp::accounting {

class ExpSequence {
 public:
  // `offset` is added to the exponent.
  ExpSequence(double rate, double step, double offset = 0)
      : rate_(rate * step), offset_(offset), factor_(std::exp(rate * step)) {}
  double next() {
    if (index_ % 32 == 0) value_ = std::exp(offset_ + rate_ * static_cast<double>(index_));
    const double now = value_;
    value_ *= factor_;
    ++index_;
    return now;
  }

 private:
  double rate_;
  double offset_;
  double factor_;
  double value_ = 1;
  std::int64_t index_ = 0;
};

}  // namespace hyfreedp::accounting
