// The contract of an optimizer: privatized gradient in, update direction out.
//
// Invariants
//   - It sees privatized gradients only, so all it computes is post-processing and costs no privacy.
//   - advance() moves the moments exactly once per training step and writes `direction` u; the trainer then
//   steps
//     w <- w - eta * u. What a probe looks at (w - h * u) is therefore exactly what a step would do,
//     decoupled weight decay included.
//   - An optimizer that owns its step size (Prodigy, D-Adaptation, DoG, ...) returns u with the step size
//   already in
//     it and is run with eta = 1; owns_step_size() says so, and `learning_rate` is then its own lr
//     multiplier.
//   - Parameters, gradient and direction are one flat contiguous vector [d] (float32 in training, float64 in
//   tests);
//     `layout` names the tensors in it, for rules that look at single tensors.
//   - State is enumerable: everything that a later step depends on is in state_tensors() and state_scalars(),
//   so
//     saving and restoring them resumes bit for bit.
//   - scalars() are worth plotting (d, lambda, ...); all are functions of released values.
//
// Called by: harness/training/trainer. Registered in: optimizers/registry.cpp. Facts (names, options) without
// LibTorch: optimizers/facts.h. To add one: copy an existing pair and add one line to both tables.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <torch/types.h>
#include <utility>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::optimizers {

struct TensorSlice {
  std::string name;
  std::int64_t offset = 0;
  std::int64_t size = 0;
};
using Layout = std::vector<TensorSlice>;

// Public constants of the run, for rules that use them (DPAdamWOSM: sigma C / L).
struct RunConstants {
  double noise_multiplier = 0;  // sigma_g
  double sensitivity = 1;       // clipping norm C (AUTO-S: 1)
  double batch_size = 1;        // the public divisor B
  std::int64_t steps = 0;       // T
};

// Work on elements [begin, end) of a vector.
using PieceWork = std::function<void(std::int64_t begin, std::int64_t end)>;

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Once, before the first step: `parameters` are the initial weights x0 [d] (copied where a rule needs
  // them).
  virtual void begin(const torch::Tensor& parameters, const Layout& layout,
                     const RunConstants& constants) = 0;

  // One step. `gradient` [d], `parameters` [d] as they are now; writes `direction` [d].
  virtual void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
                       torch::Tensor& direction) = 0;

  // advance() cut into pieces, for rules in which an element's direction depends on that element alone: the step is
  // counted, and the returned function advances the elements of one piece, so that noise and moments are dealt with while
  // the piece is in cache. `gradient` is read when the piece's turn comes, not before. Any partition of [0, d), in any order
  // and from any threads, gives advance()'s bits; the tensors outlive the function. `direction` may be `gradient`
  // itself. Empty, and nothing has happened: the rule needs whole vectors, or these are not dense ones on the CPU.
  virtual PieceWork advance_by_pieces(const torch::Tensor& gradient, const torch::Tensor& parameters,
                                      double learning_rate, torch::Tensor& direction) {
    (void)gradient, (void)parameters, (void)learning_rate, (void)direction;
    return {};
  }

  virtual bool owns_step_size() const { return false; }

  // Where the rule wants the model evaluated (an average of its iterates [d]); undefined: at the weights
  // themselves.
  virtual torch::Tensor evaluation_parameters() const { return {}; }

  // Names and tensors / scalars that make up the state; the map's values are the live tensors (write to
  // restore).
  virtual std::vector<std::pair<std::string, torch::Tensor>> state_tensors() { return {}; }
  virtual std::map<std::string, double> state_scalars() const { return {}; }
  virtual void restore_scalars(const std::map<std::string, double>& scalars) { (void)scalars; }

  // Worth plotting, by name, after the last advance().
  virtual std::map<std::string, double> scalars() const { return {}; }

  // A typed failure to report beside the result, or "" (e.g. "stuck at d0": the estimate never left its
  // start).
  virtual std::string outcome() const { return ""; }
};

// `options` has been resolved against facts.h.
Result<std::unique_ptr<Optimizer>> make_optimizer(const std::string& name, const json::object& options);

}  // namespace hyfreedp::optimizers
