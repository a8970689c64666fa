// The privacy plan of a trial, as its config has it: how records are sampled, how gradients are
// clipped, and the noise of each release. harness/mechanism/releases.h makes the list of releases
// from it, from which all else is read: what is priced, and what may be done.
//
// Every field is a public constant that is fixed before the data are read:
//   population N     size of the private training split, as the dataset declares it
//   batch_size B     the divisor of the noisy sum; also N * sample_rate for Poisson sampling
//   sample_rate q    Poisson inclusion probability of the gradient batch
//   gradient_noise   sigma_g: noise standard deviation over the clipping sensitivity; 0 only when
//                    !is_private
// An empty batch still releases noise and is booked.
//
// How gradients are clipped, and the sensitivity of their sum: harness/trial/clipping.h.
//
// Released for the steps: the clipped sum of gradients or, for DP-ZO (optimizers/dp_zo.h), the sum
// of how much each record's loss changes along a public random direction, each clipped to [-C, C]
// (abadi): S = C. It is one number, takes the gradient's place, and gradient_noise is of it.
//
// Asked releases: those that the spec asks for, beside what its method needs. Each is a struct of
// its numbers, all of which are positive; `noise` is the noise multiplier. When they are made, and
// by which options of a spec: harness/mechanism/releases.cpp.
//   feature mean   before step 0 the mean of the training features, each vector clipped to norm R
//                  (harness/training/whole_split.h)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/accounting/event.h"
#include "harness/base/describe.h"
#include "harness/trial/clipping.h"

namespace hyfreedp::trial {

enum class Sampler { poisson, full_batch, shuffle };  // shuffle: non-private rows only
enum class Released { gradient, loss_change };        // what a step follows
BOOST_DESCRIBE_ENUM(Sampler, poisson, full_batch, shuffle)
BOOST_DESCRIBE_ENUM(Released, gradient, loss_change)

struct FeatureMean {
  double norm = 1;   // R: add/remove sensitivity of the sum of clipped feature vectors
  double noise = 0;  // standard deviation over R; 0 only when !is_private

  static constexpr const char* kPurpose = "feature-mean";
  bool operator==(const FeatureMean&) const = default;
};
BOOST_DESCRIBE_STRUCT(FeatureMean, (), (norm, noise))

struct AskedReleases {
  std::optional<FeatureMean> feature_mean;

  bool operator==(const AskedReleases&) const = default;
  static constexpr bool kLeftOut = true;
};
BOOST_DESCRIBE_STRUCT(AskedReleases, (), (feature_mean))

struct ProbePlan {
  bool separate_batch = false;  // false: the gradient's own batch (folded with it)
  double sample_rate = 0;       // of the separate batch
  double batch_size = 0;        // divisor of the noisy loss sum
  double noise = 0;             // sigma_l, over the loss bound R_l; 0 in non-private rows
  // Laplace noise is for batches of all records: no accountant here folds several such releases
  // of a sampled batch.
  accounting::Noise distribution = accounting::Noise::gaussian;
  int points = 3;
  std::int64_t interval = 5;  // K: probes at t % K == 0, t from 0

  bool operator==(const ProbePlan&) const = default;

  static constexpr std::array kLeftOut = {"distribution"};
};
BOOST_DESCRIBE_STRUCT(ProbePlan, (),
                      (separate_batch, sample_rate, batch_size, noise, distribution, points, interval))

struct PrivacyPlan {
  bool is_private = true;
  Sampler sampler = Sampler::poisson;
  Released released = Released::gradient;
  std::int64_t population = 0;
  double batch_size = 0;
  double sample_rate = 0;
  Clipping clipping;
  double gradient_noise = 0;
  AskedReleases asked;
  std::optional<ProbePlan> probe;
  // The way in which sigma was chosen ("folded", "separate-batch", "paper", "paper-appendix",
  // "plain"). It is a label and is not priced.
  std::string accounting = "plain";

  // True if the clipped sums of a float32 run are added up in float64: rounding could count too
  // much otherwise (sum_rounding.h).
  bool has_wide_sums() const;
  // The part of the sensitivity that is reserved for the rounding of the sum, which is in float64
  // if `wide` (sum_rounding.h).
  double rounding_of_sums(bool wide) const;
  // Removes clipping and all settings that belong to it, but for the constant.
  void drop_clipping();
  // Sets every noise to 0, as a non-private plan has it.
  void drop_noise();
  // Checks the invariants: a private plan has noise > 0, Poisson or full batches, and clipping;
  // B > 0; q in (0, 1]; and so on.
  Result<void> check() const;

  json::object to_json() const;
  // Checked.
  static Result<PrivacyPlan> from_json(const json::value& value, const std::string& where);

  static constexpr std::array kLeftOut = {"released"};
  static constexpr std::array kInlined = {"clipping", "asked"};
};
BOOST_DESCRIBE_STRUCT(PrivacyPlan, (),
                      (is_private, sampler, released, population, batch_size, sample_rate, clipping,
                       gradient_noise, asked, probe, accounting))

}  // namespace hyfreedp::trial
