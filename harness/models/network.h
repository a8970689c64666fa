// A graph of layers over one flat vector of trainable parameters.
//
// parameters() is [d], contiguous; every trainable tensor of every layer is a view of a slice of
// it, so that the optimizer, the noise and a probe's perturbation work on one vector. Frozen
// tensors are kept apart and cost no gradient: the backward pass goes only where something below
// trains.
//
//   slice      `layout` entry "fc1.weight" at [offset, offset + size), row-major
//   reuse      the same layer may stand at several places (shared weights)
//   frozen     a parameter whose name is not trainable under `trainable`
//
// A recorded pass: record() -> logits; backward(gradient of each sample's loss w.r.t. its logits);
// then squared_norms() and add_clipped_sum(), any number of times, until take_clipped_sum() or the
// next record(). Not thread-safe.
//
//   memory     forward keeps what the layers say their gradients read; backward computes each
//              layer's norms as soon as its last gradient is there and keeps the per-sample
//              gradients or what the sum is made from, whichever the layer chose
//   copies     of a recorded pass: its rows are M versions of B samples, version by version; a
//              sample's gradient is the sum over its versions, and squared_norms() and factors are
//              of the B samples (scale the logits' gradients for a mean)
//   compute type   type of activations and of the weights that they meet, where it is narrower than
//              the parameters'. Forward and backward run on a copy of all weights, renewed before
//              each pass; logits come out, and rules run, in the parameters' own type, so norms and
//              sums agree with each other whatever was rounded before
//   sums       the rules of clipped sums run in the type of the sum that they are given, which may
//              be wider than the parameters' (float64 for a large batch:
//              harness/trial/sum_rounding.h)
//   TF32       what the caller allows holds for forward and backward; rules of norms and sums run
//              without it
//   places     in the order of evaluation; each takes the outputs of earlier places, or the
//              network's inputs
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "harness/base/result.h"
#include "harness/models/layer.h"

namespace hyfreedp::models {

struct Slice {
  std::string name;  // LAYER.PARAMETER
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

// A layer that trains and how many trainable parameters it has: what per-layer clipping clips
// together. Weight, bias and whatever else one rule computes are one layer; a layer that stands at
// several places is one.
struct TrainableLayer {
  std::vector<std::string> parameters;  // that train, by name
  std::int64_t size = 0;
};

class Network {
 public:
  static constexpr int kInput = -1;  // the network's first input
  static constexpr int kMask = -2;   // its second
  struct Place {
    std::string name;  // prefix of the layer's parameters; empty where they are named in full
    std::shared_ptr<Layer> layer;
    // earlier places; empty: the place before, or the network's input
    std::vector<int> inputs = {};
  };
  using Trainable = std::function<bool(const std::string& parameter)>;

  // All parameters start at zero. An error names every trainable parameter that no layer rule
  // covers, and a name that two different layers claim.
  static Result<Network> make(std::vector<Place> places, const torch::TensorOptions& options,
                              const Trainable& trainable = {});

  // trainable, in order of the flat vector
  const std::vector<Slice>& layout() const { return layout_; }
  const std::vector<Slice>& frozen_layout() const { return frozen_layout_; }
  std::int64_t dimension() const { return parameters_.numel(); }
  torch::Tensor& parameters() { return parameters_; }
  const torch::Tensor& parameters() const { return parameters_; }
  // A view of one tensor, trainable or frozen, by name; undefined where there is none.
  torch::Tensor tensor(const std::string& name) const;
  // The parameters' type (at first) or a narrower one. Frozen weights are copied at the first
  // change, so load them before.
  void set_compute_type(torch::ScalarType type);
  torch::ScalarType compute_type() const { return compute_type_; }

  torch::Tensor forward(const torch::Tensor& input) const { return forward(Tensors{input}); }
  torch::Tensor forward(const Tensors& inputs) const;
  torch::Tensor record(const torch::Tensor& input) { return record(Tensors{input}); }
  torch::Tensor record(const Tensors& inputs, std::int64_t copies = 1);
  // Once a recorded pass: what only the backward pass needs is let go on the way.
  void backward(torch::Tensor logit_gradient);
  // The same without norms, for a pass that clips nothing: sum [d] += sum_i g_i, and nothing is
  // kept.
  void backward_sum(torch::Tensor logit_gradient, torch::Tensor& sum);
  // [B], float64: squared norm of each sample's gradient over all trainable parameters.
  torch::Tensor squared_norms() const;
  // [B], float64: at least these, and at least the squared length of what add_clipped_sum() adds of
  // a sample at factor 1, but for the share that norm_rounding() bounds (samples.h): what factors
  // are of.
  torch::Tensor squared_norm_bounds() const;
  // sum [d] += sum_i factors[i] g_i. Undefined factors: all 1.
  void add_clipped_sum(const torch::Tensor& factors, torch::Tensor& sum) const;
  // The same layer by layer, [L, B] each, rows in the order of trainable_layers().
  std::vector<TrainableLayer> trainable_layers() const;
  torch::Tensor squared_norms_by_layer() const;
  torch::Tensor squared_norm_bounds_by_layer() const;
  void add_clipped_sum_by_layer(const torch::Tensor& factors, torch::Tensor& sum) const;
  // Either of the two (by the factors' dimension), once, last layer first: what a layer recorded is
  // let go as soon as it is added.
  void take_clipped_sum(const torch::Tensor& factors, torch::Tensor& sum);
  // Applications of layers that the recorded pass still holds: none below the lowest trainable
  // layer.
  std::int64_t activation_records() const;
  // Lets go of the recorded pass, norms included: what is gathered next finds its memory free.
  void forget();
  // Forgets the samples of `rows` ([B], bool): zeroes what was recorded of them, so that a sample
  // whose numbers are not finite cannot spoil the others' sum.
  void drop_samples(const torch::Tensor& rows);

 private:
  struct Owner {
    std::string name;
    std::shared_ptr<Layer> layer;
    std::vector<ActivationRecord> records;
    std::vector<std::ptrdiff_t> slices;  // of its parameters in layout_; -1: frozen
    bool trains = false;
    SquaredNorms squared_norms = {};  // of the last backward pass
    // What the norm rule returned, for the sum rule (layer.h).
    Tensors formed = {};
    std::vector<BoundParameter> own = {};  // views of parameters_ and frozen_
    // Of their copies in the compute type; empty until there is one.
    std::vector<BoundParameter> narrow = {};
  };
  struct Step {
    std::size_t owner = 0;
    std::size_t record = 0;  // which of the owner's
    std::vector<int> inputs;
    bool needs_gradient = false;  // it or something below trains
    std::vector<bool> passes_on;  // to which inputs a gradient goes
    std::size_t last_reader = 0;  // of its output; the number of steps for the last one
  };

  using Rule = std::function<void(std::span<const ActivationRecord>)>;

  Result<void> connect(const std::vector<Place>& places);
  void add_clipped_sum_of(const Owner& owner, const torch::Tensor& factors, torch::Tensor& sum) const;
  ActivationRecord recorded(const Step& step, Tensors inputs, torch::Tensor* output) const;
  // Calls `done` with each layer that trains and its step, once the step's record has its output
  // gradient, last step first.
  void walk_back(torch::Tensor logit_gradient, const std::function<void(Owner&, const Step&)>& done);
  static void pass_on(const Step& step, Tensors found, Tensors& gradients);
  // Of each layer that trains, in order.
  Tensors squared_norms_of_layers(bool bounds) const;
  Tensors views(const Owner& owner, const torch::Tensor& vector) const;
  Tensors inputs_of(const Step& step, const Tensors& values, const Tensors& inputs) const;
  Result<void> check_coverage() const;
  void bind_parameters(const torch::TensorOptions& options, const Trainable& trainable);
  torch::Tensor tensor_in(const torch::Tensor& trainable, const torch::Tensor& frozen,
                          const std::string& name) const;
  std::vector<BoundParameter> bound(const Owner& owner, const torch::Tensor& trainable,
                                    const torch::Tensor& frozen) const;
  bool is_narrow() const { return compute_type_ != parameters_.scalar_type(); }
  void make_narrow_copies(torch::ScalarType type);
  // The inputs in the compute type, once the weights' copies are those of now.
  Tensors prepared(const Tensors& inputs) const;
  // Calls `rule` with records of the layer in type `type`, the layer bound to the parameters, and
  // TF32 off: what a rule computes bounds a sensitivity, or is bounded by one.
  void with_records(const Owner& owner, std::span<const ActivationRecord> own, torch::ScalarType type,
                    const Rule& rule) const;

  std::vector<Owner> owners_;
  std::vector<Step> steps_;
  std::vector<Slice> layout_;
  std::vector<Slice> frozen_layout_;
  torch::Tensor parameters_;
  torch::Tensor frozen_;
  torch::ScalarType compute_type_ = torch::kFloat32;
  torch::Tensor narrow_parameters_;
  torch::Tensor narrow_frozen_;
  std::int64_t copies_ = 1;
};

}  // namespace hyfreedp::models
