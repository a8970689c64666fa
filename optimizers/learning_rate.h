// The contract of a learning-rate controller: constant, schedule, or fitted from privatized losses.
//
// Invariants
//   - It never sees a raw loss. Before step t the trainer asks wants_probe(t); if it does, the trainer
//   evaluates the
//     per-sample losses at w - x u for the abscissas x it asks for, clamps each to [0, loss_bound], sums,
//     adds noise of sigma_l * loss_bound, divides by the public batch size, books the event, and hands the
//     results to observe().
//   - loss_bound (R_l), radius and step size are functions of earlier released values and public constants
//   only.
//   - State is enumerable, as for an optimizer.
// Called by: harness/training/trainer. Registered in optimizers/registry.cpp, facts in optimizers/facts.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::optimizers {

struct ProbeRequest {
  std::vector<double> abscissas;  // step lengths along -u, e.g. {0, +h, -h}: losses at w, w - h u, w + h u
  double loss_bound = 1;          // R_l, the clamp and the sensitivity
  // 0: each loss is released by itself. D > 0, paired: the loss at abscissa 0, which comes first, and for each other x the
  // difference of a sample's two losses, clamped to [-D, D] and noised as a release of sensitivity D. As many releases at the
  // same noise multiplier, so the price is the same; what the losses have in common needs no noise twice.
  double difference_bound = 0;
};

struct ProbeResult {
  std::vector<double> abscissas;
  std::vector<double>
      losses;  // privatized means, same order; paired: the first one plus the private differences
  // Standard deviation of the noise in each (public): sigma_l R_l / B_probe; paired: in each difference, sigma_l D / B_probe.
  double noise_sd = 0;
};

class LearningRateController {
 public:
  virtual ~LearningRateController() = default;
  // `steps`: T; `dimension`: number of trainable parameters (public); `classes`: public.
  struct Start {
    std::int64_t steps = 0;
    std::int64_t dimension = 0;
    std::int64_t classes = 0;
  };
  virtual void begin(const Start& start) = 0;
  virtual bool wants_probe(std::int64_t step) const {
    (void)step;
    return false;
  }
  virtual ProbeRequest request(std::int64_t step) const {
    (void)step;
    return {};
  }
  virtual void observe(std::int64_t step, const ProbeResult& result) { (void)step, (void)result; }
  // The step size of step t, after any probe of that step.
  virtual double learning_rate(std::int64_t step) const = 0;

  virtual std::map<std::string, double> state_scalars() const { return {}; }
  virtual void restore_scalars(const std::map<std::string, double>& scalars) { (void)scalars; }
  // Worth plotting after a probe (R_l, H, G, radius, ...) and counts of decisions ("accepted",
  // "H_nonpositive", ...).
  virtual std::map<std::string, double> scalars() const { return {}; }
  virtual std::map<std::string, std::int64_t> decisions() const { return {}; }
  virtual std::string last_decision() const { return ""; }
  // A typed failure to report, or "" (e.g. "fit rejected throughout").
  virtual std::string outcome() const { return ""; }
};

Result<std::unique_ptr<LearningRateController>> make_controller(const std::string& name,
                                                                const json::object& options);

}  // namespace hyfreedp::optimizers
