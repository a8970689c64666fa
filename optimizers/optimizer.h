// The contract of an optimizer: privatized gradient in, update direction out.
//
// Invariants
//   - An optimizer sees privatized gradients only, so all that it computes is post-processing and
//     costs no privacy.
//   - advance() updates the moments exactly once per training step and writes the direction u; the
//     trainer then steps w <- w - eta * u. A probe looks at w - h * u, which is therefore exactly
//     what a step of length h would do, decoupled weight decay included.
//   - An optimizer that owns its step size (Prodigy, D-Adaptation, DoG, ...) returns u with the
//     step size already in it and is run with eta = 1. owns_step_size() is then true, and
//     `learning_rate` is the rule's own multiplier lr.
//   - Parameters, gradient and direction are one flat contiguous vector [d] each
//     (float32 in training, float64 in tests). `layout` names the tensors in it, for rules that
//     treat tensors separately.
//   - The state is enumerable: all that a later step depends on is in state_tensors() and
//     state_scalars(), so that saving and restoring them resumes bit for bit.
//   - scalars() are values worth plotting (d, lambda, ...); all are functions of released values.
//
// Called by harness/training/trainer. Registered in optimizers/registry.cpp. Facts (names, options)
// without LibTorch are in optimizers/facts.h. To add an optimizer: TEMPLATE.md (`hyfreedp new
// optimizer NAME` makes its files, its test and the lines of both tables).
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

  // Called once, before the first step. `parameters` are the initial weights x0 [d]; a rule that
  // needs them later copies them.
  virtual void begin(const torch::Tensor& parameters, const Layout& layout,
                     const RunConstants& constants) = 0;

  // One step. `gradient` [d] is the released one, `parameters` [d] are the present weights. Writes
  // `direction` [d].
  virtual void advance(const torch::Tensor& gradient, const torch::Tensor& parameters, double learning_rate,
                       torch::Tensor& direction) = 0;

  // advance() cut into pieces, for rules in which an element's direction depends on that element
  // alone. The step is counted, and the returned function computes the elements
  // [begin, end) of one piece, so that noise and moments are computed while the piece is in the
  // cache. `gradient` is read when the piece is computed, not before. Any partition of
  // [0, d), in any order and from any threads, gives the bits of advance(). The tensors must
  // outlive the function; `direction` may be `gradient` itself. Returns an empty function, and
  // changes nothing, if the rule needs whole vectors or if these are not dense vectors on the CPU.
  virtual PieceWork advance_by_pieces(const torch::Tensor& gradient, const torch::Tensor& parameters,
                                      double learning_rate, torch::Tensor& direction) {
    (void)gradient, (void)parameters, (void)learning_rate, (void)direction;
    return {};
  }

  virtual bool owns_step_size() const { return false; }

  // The point at which the rule wants the model to be evaluated, such as an average of its iterates
  // [d]; undefined: at the weights themselves.
  virtual torch::Tensor evaluation_parameters() const { return {}; }

  // The direction u [d] of one step more after the last one, w <- w - eta u with that step's eta,
  // for which no gradient is computed and nothing is released; undefined: there is none.
  virtual torch::Tensor free_direction() const { return {}; }

  // Names and values of the state. The tensors are the live ones: writing to them restores a state.
  virtual std::vector<std::pair<std::string, torch::Tensor>> state_tensors() { return {}; }
  virtual std::map<std::string, double> state_scalars() const { return {}; }
  virtual void restore_scalars(const std::map<std::string, double>& scalars) { (void)scalars; }

  // Values worth plotting, by name, after the last advance().
  virtual std::map<std::string, double> scalars() const { return {}; }

  // A typed failure to report beside the result, such as "stuck at d0" (the estimate never left its
  // start); "" if there is none.
  virtual std::string outcome() const { return ""; }
};

// `options` were resolved against facts.h. An error for an unknown name.
Result<std::unique_ptr<Optimizer>> make_optimizer(const std::string& name, const json::object& options);

}  // namespace hyfreedp::optimizers
