// The contract of a learning-rate controller: constant, schedule, or fitted from privatized losses.
//
// Invariants
//   - A controller never sees a raw loss. Before step t the trainer asks wants_probe(t). If it
//     returns true, the trainer evaluates the per-sample losses at w - x u for the abscissas x that
//     the controller asks for, clamps each loss to [0, loss_bound], adds them up, adds noise of
//     sigma_l * loss_bound, divides by the public batch size, books the event, and passes the
//     results to observe().
//   - loss_bound (R_l), radius and step size are functions of earlier released values and of public
//     constants only.
//   - A controller never sees a gradient either. One that follows slopes is told, layer by layer,
//     how the gradient that step t released stands to the direction of step t - 1. That is a
//     function of releases, so it costs no privacy.
//   - Its state is enumerable, as for an optimizer.
// Called by harness/training/trainer. Registered in optimizers/registry.cpp, facts in
// optimizers/facts.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::optimizers {

struct ProbeRequest {
  // step lengths along -u, e.g. {0, +h, -h}: losses at w, w - h u, w + h u
  std::vector<double> abscissas;
  double loss_bound = 1;  // R_l: each loss is clamped to it, and it is the sensitivity
  // 0: each loss is a release of its own. D > 0 (paired): the loss at abscissa 0, which must come
  // first, is a release, and for each other x the difference of a sample's two losses, clamped to
  // [-D, D], is one of sensitivity D. There are as many releases at the same noise multiplier, so
  // the price is the same; the part that the losses have in common is noised once.
  double difference_bound = 0;
};

struct ProbeResult {
  std::vector<double> abscissas;
  std::vector<double>
      losses;  // privatized means, same order; paired: the first one plus the private differences
  // Standard deviation of the noise in each loss (public): sigma_l R_l / B_probe; paired: in each
  // difference, sigma_l D / B_probe.
  double noise_sd = 0;
};

// The trainable parameters of one layer.
struct TrainedLayer {
  std::string name;
  std::int64_t size = 0;
  // Of a network that begins at weights which were trained before, adapters of these included, but
  // not what belongs to the task.
  bool pretrained = false;
};

// How the released gradient m of a step stands to the direction u of the step before, of which the
// weights went -rate u. m is a mean over the batch at the weights after that step.
struct Slopes {
  struct OfLayer {
    double along = 0;   // <m, u> over the layer's parameters; positive: the step was too short
    double length = 0;  // ||u|| over them
  };
  std::vector<OfLayer> layers;
  // Standard deviation of the noise in each entry of m (public), sigma S / B: that of the noise in
  // a layer's `along` is noise_sd times its `length`.
  double noise_sd = 0;
};

class LearningRateController {
 public:
  virtual ~LearningRateController() = default;
  // Public constants of the run: `steps` is T, `dimension` the number of trainable parameters.
  struct Start {
    std::int64_t steps = 0;
    std::int64_t dimension = 0;
    std::int64_t classes = 0;
    std::vector<TrainedLayer> layers = {};  // for a rule that follows slopes
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
  // True if the rule is to be told slopes, at each step but the first, before its rates are asked.
  virtual bool follows_slopes() const { return false; }
  virtual void observe(const Slopes& slopes) { (void)slopes; }
  // The step sizes of step t by layer, in the order of Start::layers; empty: learning_rate() for
  // all.
  virtual std::vector<double> layer_rates() const { return {}; }
  // The step size of step t, after the probe of that step if it has one.
  virtual double learning_rate(std::int64_t step) const = 0;

  virtual std::map<std::string, double> state_scalars() const { return {}; }
  virtual void restore_scalars(const std::map<std::string, double>& scalars) { (void)scalars; }
  // Values worth plotting after a probe, by name (R_l, H, G, radius, ...), and counts of decisions
  // ("accepted", "H_nonpositive", ...).
  virtual std::map<std::string, double> scalars() const { return {}; }
  virtual std::map<std::string, std::int64_t> decisions() const { return {}; }
  virtual std::string last_decision() const { return ""; }
  // A typed failure to report beside the result, such as "fit rejected throughout"; "" if there is
  // none.
  virtual std::string outcome() const { return ""; }
};

Result<std::unique_ptr<LearningRateController>> make_controller(const std::string& name,
                                                                const json::object& options);

}  // namespace hyfreedp::optimizers
