// The privacy plan: one object gives sampler, clipping, noise and the events that the accountant prices.
//
// Nobody passes sigma, q or epsilon a second time. Every field is a public constant fixed before the data is
// touched:
//   population N     size of the private training split (public by declaration, never the live count)
//   batch_size B     the divisor of the noisy sum; also N * sample_rate for Poisson sampling
//   sample_rate q    Poisson inclusion probability of the gradient batch
//   gradient_noise   sigma_g: noise standard deviation over the clipping sensitivity; 0 only when !is_private
// An empty batch still releases noise and is booked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/accounting/event.h"

namespace hyfreedp::trial {

enum class Sampler { poisson, full_batch, shuffle };  // shuffle: non-private rows only
enum class Clipping { none, auto_s, abadi };

struct ProbePlan {
  bool separate_batch = false;  // false: the gradient's own batch (folded with it)
  double sample_rate = 0;       // of the separate batch
  double batch_size = 0;        // divisor of the noisy loss sum
  double noise = 0;             // sigma_l, over the loss bound R_l; 0 in non-private rows
  int points = 3;
  std::int64_t interval = 5;  // K: probes at t % K == 0, t from 0
};

struct PrivacyPlan {
  bool is_private = true;
  Sampler sampler = Sampler::poisson;
  std::int64_t population = 0;
  double batch_size = 0;
  double sample_rate = 0;
  Clipping clipping = Clipping::auto_s;
  double clipping_constant = 0.01;  // AUTO-S: g / (||g|| + constant); Abadi: the threshold C
  double gradient_noise = 0;
  std::optional<ProbePlan> probe;
  // How sigma was chosen ("folded", "separate-batch", "paper", "paper-appendix", "plain"): a label, never
  // priced.
  std::string accounting = "plain";

  // Add/remove sensitivity of the clipped sum: AUTO-S 1, Abadi C, none: infinite.
  double sensitivity() const;
  bool probes_at(std::int64_t step) const;
  // The events of steps [first, first + count), consecutive equal steps merged; empty when !is_private.
  std::vector<accounting::Event> events(std::int64_t first, std::int64_t count) const;
  // Invariants: private needs noise > 0, Poisson or full batch, clipping; B > 0; q in (0, 1]; ...
  Result<void> check() const;

  json::object to_json() const;
  static Result<PrivacyPlan> from_json(const json::object& object, const std::string& where);
};

}  // namespace hyfreedp::trial
