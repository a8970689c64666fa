// Single releases through the mechanism, without a run around them.
#pragma once

#include "harness/mechanism/release/mechanism.h"
#include "harness/training/adaptive_clipping.h"
#include "harness/training/private_loss.h"
#include "harness/training/whole_split.h"

namespace hyfreedp::training {

using mechanism::digest_of;
using mechanism::gradient_rows;
using mechanism::kReleaseBlock;
using mechanism::probe_rows;
using mechanism::release_hash;

// Books nothing, and is at any attempt.
class NoBookings : public mechanism::Bookings {
 public:
  explicit NoBookings(std::int64_t attempt) : attempt_(attempt) {}
  std::int64_t attempt() const override { return attempt_; }
  Result<void> ensure_booked(std::int64_t) override { return {}; }
  Result<void> book_score(double, const std::string&) override { return {}; }
  std::optional<std::string> expected_hash(std::int64_t) const override { return std::nullopt; }
  Result<void> step(const trial::StepRecord&, const std::set<std::string>&) override { return {}; }

 private:
  std::int64_t attempt_;
};

// A mechanism at any step.
class AnyStep : public mechanism::Mechanism {
 public:
  using Mechanism::Mechanism;
  using Mechanism::set_step;
};

// A mechanism of a long run under `plan`, at `step`.
class Door {
 public:
  Door(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t attempt, std::int64_t step = 0)
      : bookings_(attempt), mechanism_(config_of(plan), key, bookings_) {
    mechanism_.set_step(step);
  }
  mechanism::Mechanism* operator->() { return &mechanism_; }

 private:
  const trial::TrialConfig& config_of(const trial::PrivacyPlan& plan) {
    config_.privacy = plan;
    config_.steps = std::int64_t{1} << 40;
    return config_;
  }

  trial::TrialConfig config_;
  NoBookings bookings_;
  AnyStep mechanism_;
};

inline mechanism::VectorDigest release_wide_sum(const trial::PrivacyPlan& plan, const random::Key& key,
                                                std::int64_t step, std::int64_t attempt, torch::Tensor& sum,
                                                torch::Tensor& released,
                                                const mechanism::PieceWork& then = {}) {
  return Door(plan, key, attempt, step)
      ->release(mechanism::kGradient, step, {sum, plan.clipping.sensitivity(), released}, {}, then)
      .value();
}

inline mechanism::VectorDigest release_gradient(const trial::PrivacyPlan& plan, const random::Key& key,
                                                std::int64_t step, std::int64_t attempt, torch::Tensor& sum,
                                                const mechanism::PieceWork& then = {}) {
  return release_wide_sum(plan, key, step, attempt, sum, sum, then);
}

// [p] float64
inline torch::Tensor release_feature_mean(const trial::PrivacyPlan& plan, const random::Key& key,
                                          std::int64_t attempt, const torch::Tensor& features) {
  auto sum = whole_split_sum(trial::FeatureMean::kPurpose, plan,
                             {.private_train = plan.population, .features = features.size(1)},
                             {.features = features, .labels = {}});
  Door(plan, key, attempt)
      ->release(trial::FeatureMean::kPurpose, 0,
                mechanism::BoundedVector{sum, plan.asked.feature_mean->norm, sum}, {})
      .value();
  return sum;
}

// At the plan's threshold.
inline double release_clip_fraction(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                                    std::int64_t attempt, const torch::Tensor& norms) {
  const mechanism::BoundedSum count{centred_clip_count(norms, plan.clipping.constant),
                                    trial::kCountSensitivity};
  return Door(plan, key, attempt, step)->release(mechanism::kClipCount, step, {&count, 1}).value().front();
}

inline std::string release_hash(const torch::Tensor& vector, std::span<const double> values) {
  return release_hash(digest_of(vector), values);
}

// What the mechanism makes of a sum where its normal is `z` (mechanism/releases.h).
inline double noised(const mechanism::BoundedSum& bounded, double noise_multiplier, double divisor,
                     double z) {
  return (bounded.sum + noise_multiplier * bounded.sensitivity * z) / divisor;
}

}  // namespace hyfreedp::training
