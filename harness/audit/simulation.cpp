#include "harness/audit/simulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "harness/base/result.h"

namespace hyfreedp::audit {
namespace {

using accounting::Mechanism;
using Mechanisms = std::vector<Mechanism>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kChunk = 4096;  // even, so that chunks begin with the first normal of a pair
constexpr int kLargestOrder = 256;

// Lanes of the stream: what a number is for.
enum Lane : std::uint8_t { kTiltedCentre, kTiltedNoise, kAddedNoise };

TiltedStep tilted_step(const Mechanism& mechanism, int order) {
  const double q = mechanism.sample_rate;
  const double precision = 1 / (mechanism.noise_multiplier * mechanism.noise_multiplier);
  std::vector<double> logs;
  for (int k = 0; k <= order; ++k) {
    const double rest = order - k;
    double log_weight = std::lgamma(order + 1.0) - std::lgamma(k + 1.0) - std::lgamma(rest + 1.0);
    log_weight += 0.5 * precision * k * (k - 1.0);
    if (k > 0) log_weight += k * std::log(q);
    if (rest > 0) log_weight += q < 1 ? rest * std::log1p(-q) : -kInfinity;
    logs.push_back(log_weight);
  }
  const double largest = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  TiltedStep step{mechanism, {}, 0};
  for (const double log_weight : logs) {
    sum += std::exp(log_weight - largest);
    step.cumulative.push_back(sum);
  }
  for (double& one : step.cumulative) one /= sum;
  step.log_normaliser = largest + std::log(sum);
  return step;
}

Tilt tilt_of_order(const Mechanisms& mechanisms, int order, double epsilon) {
  Tilt tilt;
  tilt.order = order;
  for (const auto& mechanism : mechanisms) {
    tilt.steps.push_back(tilted_step(mechanism, order));
    tilt.log_normaliser += static_cast<double>(mechanism.count) * tilt.steps.back().log_normaliser;
  }
  const double theta = order - 1.0;
  tilt.log_bound = tilt.log_normaliser - theta * epsilon - (1 + theta) * std::log1p(theta);
  if (theta > 0) tilt.log_bound += theta * std::log(theta);
  return tilt;
}

// A sum of log(1 - q + q e^y): factors are multiplied, and a logarithm is taken only where the
// product runs away.
class LogProduct {
 public:
  LogProduct(double q, double sigma)
      : rest_(1 - q), q_(q), log_q_(std::log(q)), scale_(1 / (sigma * sigma)), offset_(0.5 * scale_) {}

  void multiply(double x) {
    const double y = scale_ * x - offset_;
    if (y > 200) {  // 1 - q is lost in q e^y, which might overflow
      sum_ += y + log_q_;
      return;
    }
    if (rest_ == 0) {
      sum_ += y;
      return;
    }
    product_ *= rest_ + q_ * std::exp(y);
    if (product_ > 1e150 || product_ < 1e-150) settle();
  }
  double take() {
    settle();
    const double sum = sum_;
    sum_ = 0;
    return sum;
  }

 private:
  void settle() {
    sum_ += std::log(product_);
    product_ = 1;
  }
  double rest_;
  double q_;
  double log_q_;
  double scale_;
  double offset_;
  double sum_ = 0;
  double product_ = 1;
};

// Adds the loss of `mechanism`'s steps to each run's total; draw(number, values) fills x for the
// steps from `number` on.
template <class Draw>
void add_losses(const Mechanism& mechanism, std::int64_t first, std::vector<double>& totals, Draw draw) {
  const std::int64_t begin = first * mechanism.count;
  const std::int64_t end = begin + static_cast<std::int64_t>(totals.size()) * mechanism.count;
  HYFREEDP_CHECK(static_cast<std::uint64_t>(end) < random::kAddressLength, "a stream's address is used up");
  std::vector<double> values(kChunk);
  LogProduct product(mechanism.sample_rate, mechanism.noise_multiplier);
  std::int64_t left = mechanism.count;  // steps of the run that is being drawn
  std::size_t run = 0;
  for (std::int64_t number = begin; number < end;) {
    const std::int64_t take = std::min(kChunk, end - number);
    const std::span<double> chunk(values.data(), static_cast<std::size_t>(take));
    draw(number, chunk);
    for (const double x : chunk) {
      product.multiply(x);
      if (--left > 0) continue;
      totals[run++] += product.take();
      left = mechanism.count;
    }
    number += take;
  }
}

random::Address address(std::size_t mechanism, Lane lane) {
  return {.step = static_cast<std::uint32_t>(mechanism),
          .tensor = 0,
          .purpose = random::Purpose::synthetic_data,
          .lane = lane,
          .attempt = 0};
}

}  // namespace

Tilt untilted(const Mechanisms& mechanisms) { return tilt_of_order(mechanisms, 1, 0); }

Tilt best_tilt(const Mechanisms& mechanisms, double epsilon) {
  Tilt best = tilt_of_order(mechanisms, 2, epsilon);
  for (int order = 3; order <= kLargestOrder; ++order) {
    Tilt next = tilt_of_order(mechanisms, order, epsilon);
    if (!(next.log_bound < best.log_bound)) break;  // convex in the order
    best = std::move(next);
  }
  return best;
}

std::vector<double> draw_tilted(const Tilt& tilt, const random::Key& key, std::int64_t first,
                                std::int64_t count) {
  std::vector<double> totals(static_cast<std::size_t>(count), 0.0);
  std::vector<double> coins(kChunk);
  for (std::size_t i = 0; i < tilt.steps.size(); ++i) {
    const auto& step = tilt.steps[i];
    add_losses(step.mechanism, first, totals, [&](std::int64_t number, std::span<double> values) {
      const std::span<double> uniforms(coins.data(), values.size());
      random::fill_uniforms(key, address(i, kTiltedCentre), static_cast<std::uint64_t>(number), uniforms);
      random::fill_normals(key, address(i, kTiltedNoise), static_cast<std::uint64_t>(number), values);
      for (std::size_t j = 0; j < values.size(); ++j) {
        values[j] *= step.mechanism.noise_multiplier;
        if (uniforms[j] < step.cumulative[0]) continue;
        const auto centre = std::upper_bound(step.cumulative.begin(), step.cumulative.end() - 1, uniforms[j]);
        values[j] += static_cast<double>(centre - step.cumulative.begin());
      }
    });
  }
  return totals;
}

std::vector<double> draw_added(const Mechanisms& mechanisms, const random::Key& key, std::int64_t first,
                               std::int64_t count) {
  std::vector<double> totals(static_cast<std::size_t>(count), 0.0);
  for (std::size_t i = 0; i < mechanisms.size(); ++i) {
    add_losses(mechanisms[i], first, totals, [&](std::int64_t number, std::span<double> values) {
      random::fill_normals(key, address(i, kAddedNoise), static_cast<std::uint64_t>(number), values);
      for (double& value : values) value *= mechanisms[i].noise_multiplier;
    });
  }
  for (double& total : totals) total = -total;
  return totals;
}

}  // namespace hyfreedp::audit
