// Parts with a fault (harness/training/parts.h), each of which an audit or a nightly comparison has
// to find.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <unistd.h>

#include "harness/random/draws.h"
#include "harness/training/parts.h"

namespace hyfreedp::training {

template <class Faulty, class... Arguments>
Parts with_mechanism(Arguments... arguments) {
  Parts parts;
  parts.mechanism = [=](const auto& config, const auto& key, auto& journal, auto* observer) {
    return std::make_unique<Faulty>(arguments..., config, key, journal, observer);
  };
  return parts;
}

// Gradient noise of `factor` times the claimed scale.
class ScaledNoise : public mechanism::Mechanism {
 public:
  template <class... Inputs>
  explicit ScaledNoise(double factor, Inputs&&... inputs)
      : Mechanism(std::forward<Inputs>(inputs)...), factor_(factor) {}

 protected:
  double scale_of(const mechanism::Release& release, double sensitivity) const override {
    return (mechanism::is_followed(release.purpose) ? factor_ : 1.0) *
           Mechanism::scale_of(release, sensitivity);
  }

 private:
  double factor_;
};

// Steps 2 k and 2 k + 1 get the same noise.
class ReusedNoise : public mechanism::Mechanism {
 public:
  using Mechanism::Mechanism;

 protected:
  random::Address address_of(const mechanism::Release& release, std::int64_t step) const override {
    return Mechanism::address_of(release, mechanism::is_followed(release.purpose) ? step / 2 * 2 : step);
  }
};

// The sum is divided by the number of samples drawn.
class RealisedDivisor : public mechanism::Mechanism {
 public:
  using Mechanism::Mechanism;

 protected:
  double divisor_of(const mechanism::Release& release, const mechanism::Origin& origin) const override {
    if (!mechanism::is_followed(release.purpose)) return release.divisor;
    return static_cast<double>(std::max<std::int64_t>(origin.rows->count, 1));
  }
};

// A batch of nobody releases nothing.
class SkippedEmptyBatches : public mechanism::Mechanism {
 public:
  using Mechanism::Mechanism;

  Result<mechanism::VectorDigest> release(const std::string& purpose, std::int64_t step,
                                          const mechanism::BoundedVector& vector,
                                          const mechanism::Origin& origin,
                                          const mechanism::PieceWork& then) override {
    skips_ = origin.rows != nullptr && origin.rows->count == 0;
    if (skips_) return mechanism::VectorDigest();
    return Mechanism::release(purpose, step, vector, origin, then);
  }
  using Mechanism::release;
  Result<bool> end_step(std::int64_t step, const std::map<std::string, double>& scalars,
                        bool diverged) override {
    if (!skips_) return Mechanism::end_step(step, scalars, diverged);
    set_step(step + 1);
    return true;
  }

 private:
  bool skips_ = false;
};

// Losses are of the gradient's batch although they are booked as of a batch of their own.
class ProbesOnGradientBatch : public mechanism::Mechanism {
 public:
  using Mechanism::Mechanism;

  mechanism::Rows rows(const std::string&, std::int64_t step) const override {
    return Mechanism::rows(mechanism::kGradient, step);
  }
};

// Batches of one size, claimed as Poisson samples.
class WithoutReplacement : public mechanism::Mechanism {
 public:
  WithoutReplacement(const trial::TrialConfig& config, const random::Key& key, mechanism::Bookings& journal,
                     mechanism::Observer* observer)
      : Mechanism(config, key, journal, observer), population_(config.privacy.population), key_(key) {}

  mechanism::Rows rows(const std::string& purpose, std::int64_t step) const override {
    const auto& release = release_of(purpose);
    const auto stream =
        release.batch == mechanism::kProbeBatch ? random::Purpose::probe_sampling : random::Purpose::sampling;
    auto indices = random::permutation(key_, mechanism::address_of(stream, step, 0), population_);
    const double size = release.sample_rate * static_cast<double>(population_);
    indices.resize(static_cast<std::size_t>(std::llround(size)));
    std::sort(indices.begin(), indices.end());
    const auto count = static_cast<std::int64_t>(indices.size());
    return {.batch = release.batch, .count = count, .all = false, .indices = std::move(indices)};
  }

 private:
  std::int64_t population_;
  random::Key key_;
};

inline Parts scaled_noise(double factor) { return with_mechanism<ScaledNoise>(factor); }

// Every run has one key.
inline Parts shared_key() {
  Parts parts;
  parts.key = [](const auto&, const auto&, const auto&) {
    return Result<random::Key>(random::key_from_seed("worker"));
  };
  return parts;
}

// The last tensor of the layout is summed unclipped.
inline Parts unclipped_last_layer() {
  Parts parts;
  parts.clipped_sum = [](models::Network& network, models::Loss loss, const RoundedClipping& rule,
                         BatchReader& reader, const mechanism::Rows& rows, torch::Tensor& sum,
                         SampleClipping* seen) {
    auto raw = torch::zeros_like(sum);
    // By a threshold that only a gradient which is not finite exceeds.
    clipped_gradient_sum(network, loss, {{.rule = trial::ClippingRule::abadi, .constant = 1e30}}, reader,
                         rows, raw, nullptr);
    const auto losses = clipped_gradient_sum(network, loss, rule, reader, rows, sum, seen);
    const auto& last = network.layout().back();
    sum.narrow(0, last.offset, last.size).copy_(raw.narrow(0, last.offset, last.size));
    return losses;
  };
  return parts;
}

// The released loss sum has no bound, and claims one.
inline Parts losses_not_clamped() {
  Parts parts;
  parts.loss_sum = [](const torch::Tensor& losses, double bound) {
    return mechanism::BoundedSum{.sum = bounded_loss_sum(losses, std::numeric_limits<double>::infinity()).sum,
                                 .sensitivity = bound};
  };
  return parts;
}

// The released change of losses has no bound, and claims one.
inline Parts changes_not_clipped() {
  Parts parts;
  parts.change_sum = [](const torch::Tensor& after, const torch::Tensor& before, double bound) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return mechanism::BoundedSum{.sum = bounded_change_sum(after, before, kNone).sum, .sensitivity = bound};
  };
  return parts;
}

// Every step is `factor` times as long as it should be.
inline Parts longer_steps(double factor) {
  Parts parts;
  parts.weight_step = [factor](const torch::Tensor& weights, const torch::Tensor& direction, double x,
                               torch::Tensor& out) {
    return subtract_scaled(weights, direction, factor * x, out);
  };
  return parts;
}

// The first tensor of the layout stands still.
inline Parts first_layer_frozen() {
  Parts parts;
  const auto size = std::make_shared<std::int64_t>(0);
  parts.clipped_sum = [size](models::Network& network, models::Loss loss, const RoundedClipping& rule,
                             BatchReader& reader, const mechanism::Rows& rows, torch::Tensor& sum,
                             SampleClipping* seen) {
    *size = network.layout().front().size;
    return clipped_gradient_sum(network, loss, rule, reader, rows, sum, seen);
  };
  parts.weight_step = [size](const torch::Tensor& weights, const torch::Tensor& direction, double x,
                             torch::Tensor& out) {
    direction.narrow(0, 0, *size).zero_();
    return subtract_scaled(weights, direction, x, out);
  };
  return parts;
}

// Every step takes a fifth more of the processor's time than it should.
inline Parts slower_steps() {
  Parts parts;
  const auto ended = std::make_shared<std::clock_t>(0);
  parts.weight_step = [ended](const torch::Tensor& weights, const torch::Tensor& direction, double x,
                              torch::Tensor& out) {
    const bool finite = subtract_scaled(weights, direction, x, out);
    const auto now = std::clock();
    const auto until = *ended == 0 ? now : now + (now - *ended) / 5;
    while (std::clock() < until) continue;
    *ended = std::clock();
    return finite;
  };
  return parts;
}

// One worker comes to no further microbatch: the first that takes away the file which HYFREEDP_HANG
// names, at its 200th step. It waits, or with `busy` computes, for ever.
inline Parts hanging_step(bool busy) {
  Parts parts;
  const auto steps = std::make_shared<int>(0);
  parts.weight_step = [steps, busy](const torch::Tensor& weights, const torch::Tensor& direction, double x,
                                    torch::Tensor& out) {
    const char* file = std::getenv("HYFREEDP_HANG");
    if (++*steps == 200 && file != nullptr && std::remove(file) == 0) {
      for (std::atomic<std::int64_t> turns{0};; ++turns) {
        if (!busy) ::pause();
      }
    }
    return subtract_scaled(weights, direction, x, out);
  };
  return parts;
}

}  // namespace hyfreedp::training
