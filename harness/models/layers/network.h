// A network: a graph of layers whose trainable parameters are one flat vector.
//
// parameters() is that vector, [d], contiguous. Every trainable tensor of every layer is a view of
// a slice of it, row-major, so that the optimizer, the noise and a probe's step all work on one
// vector. Frozen tensors are stored separately. The backward pass goes only to layers that train or
// that have a trainable layer below them.
//
// A recorded pass is a sequence of calls:
//   1. record(inputs) returns the logits;
//   2. backward(g), where g is the gradient of each sample's loss with respect to its logits;
//   3. squared_norms() and add_clipped_sum(), any number of times;
//   4. take_clipped_sum(), which also frees the recorded tensors; or forget().
// The next record() discards what an earlier pass left. The class is not thread-safe. A wrong order
// of calls or a wrong size throws std::logic_error where a function checks it.
//
//   memory        The forward pass keeps what the layers' gradients read. The backward pass
//                 computes each layer's norms as soon as all its output gradients are known, and
//                 then keeps either the per-sample gradients or what the sum is computed from, as
//                 the layer chooses (layer.h).
//   blocks        With checkpoint_blocks() the forward pass keeps of each block only what its
//                 places read of earlier ones. The backward pass computes a block's records when it
//                 comes to the block, by the same operations.
//   copies        With M augmented versions of B samples, the inputs have M B rows: row m B + i is
//                 version m of sample i. A sample's gradient is the sum over its versions; squared
//                 norms and factors belong to the B samples. For a mean, scale the gradients of the
//                 logits.
//   compute type  The type of activations and of the weights that they are multiplied with; the
//                 parameters' type or a narrower one, such as bfloat16. Forward and backward passes
//                 use a copy of all weights, refreshed before each pass. Logits are returned in the
//                 parameters' type. Rules run on the records in the type of the norms or of the
//                 sum, so norms and sums agree with each other.
//   type of sums  The sum may be wider than the parameters, such as float64 for a large batch
//                 (harness/trial/sum_rounding.h). The rules then compute in the wider type.
//   TF32          Forward and backward passes use TF32 if the caller allows it (tf32.h). The rules
//                 of norms and sums never do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "harness/base/result.h"
#include "harness/models/graph/graph.h"
#include "harness/models/layers/layer.h"

namespace hyfreedp::models {

// The place of one parameter in a flat vector: elements [offset, offset + size), row-major.
struct Slice {
  std::string name;  // LAYER.PARAMETER, such as "fc1.weight"
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

// A layer with trainable parameters: the unit of per-layer clipping. A layer that is applied at
// several places of the network counts once.
struct TrainableLayer {
  std::vector<std::string> parameters;  // names of its trainable parameters
  std::int64_t size = 0;                // number of their elements
};

class Network {
 public:
  static constexpr int kInput = -1;  // the network's first input
  static constexpr int kMask = -2;   // its second
  // One application of a layer. Places are evaluated in their order. The same layer may stand at
  // several places, which then share its weights.
  struct Place {
    std::string name;  // prefix of the parameters' names; empty: no prefix
    std::shared_ptr<Layer> layer;
    // Indices of earlier places, kInput or kMask. Empty: the place before this one, or the
    // network's first input.
    std::vector<int> inputs = {};
  };
  using Trainable = std::function<bool(const std::string& parameter)>;

  // Makes a network whose parameters are all zero, of the type and on the device of `options`.
  // Parameters whose name `trainable` rejects are frozen; without `trainable` all are trainable.
  // `compute`: the compute type that it begins with, in which frozen weights are stored; absent:
  // the parameters' type. Returns an error for a layer that mixes samples, for a trainable
  // parameter that no layer's rules include, for a name that two layers use, and for a place whose
  // input is not an earlier place.
  static Result<Network> make(std::vector<Place> places, const torch::TensorOptions& options,
                              const Trainable& trainable = {}, std::optional<torch::ScalarType> compute = {});

  // The trainable parameters, in the order of the flat vector.
  const std::vector<Slice>& layout() const { return layout_; }
  const std::vector<Slice>& frozen_layout() const { return frozen_layout_; }
  std::int64_t dimension() const { return parameters_.numel(); }  // d
  torch::Tensor& parameters() { return parameters_; }
  const torch::Tensor& parameters() const { return parameters_; }
  // A view of one parameter, trainable or frozen. Undefined if there is none of that name.
  torch::Tensor tensor(const std::string& name) const;
  // Sets the compute type. Frozen weights of another type are copied when it is first set, so they
  // must be loaded before.
  void set_compute_type(torch::ScalarType type);
  torch::ScalarType compute_type() const { return compute_type_; }

  // Names the network's blocks, each from its first place to its last, in their order and without
  // common places. make_network() names the graph's.
  void set_blocks(std::vector<graph::Span> blocks);
  // Switches activation checkpointing of the blocks (Chen et al., arXiv:1604.06174) on or off.
  void checkpoint_blocks(bool on);

  // The logits for inputs with B rows, without recording.
  torch::Tensor forward(const torch::Tensor& input) const { return forward(Tensors{input}); }
  torch::Tensor forward(const Tensors& inputs) const;
  // The logits of what follows the next tokens of B texts, [B, V] in the parameters' type, without
  // recording: those that forward() gives at each text's last token. Of a network that reads from
  // left to right (graph/left_to_right.h).
  //   ids      [B, T] int64: row i's first counts[i] ids continue text i; what is behind them is
  //            any id and changes nothing
  //   counts   [B] int64, 1 to T each
  //   reading  what was read before; the tokens are added to it. No row, with what is behind its
  //            tokens, may come to be longer than its capacity
  torch::Tensor next_logits(const torch::Tensor& ids, const torch::Tensor& counts, Reading& reading) const;
  // Names the layer that features() stops before. make_network() (make_network.h) names the
  // graph's.
  void set_head(const std::string& layer);
  bool has_head() const { return head_ < steps_.size(); }
  // The values that the head reads, [B, ..., width] in the parameters' type, without recording. The
  // head itself is not computed. Their width is feature_width() (facts.h).
  torch::Tensor features(const torch::Tensor& input) const { return features(Tensors{input}); }
  torch::Tensor features(const Tensors& inputs) const;
  // The logits, with a record of every layer application that the backward pass reaches. The inputs
  // have copies * B rows.
  torch::Tensor record(const torch::Tensor& input) { return record(Tensors{input}); }
  torch::Tensor record(const Tensors& inputs, std::int64_t copies = 1);
  // The backward pass, which also computes the squared norms. `logit_gradient` has the shape of the
  // logits. Call it once for each record().
  void backward(torch::Tensor logit_gradient);
  // The backward pass without norms, for training without clipping: sum [d] += sum_i g_i. It frees
  // the recorded tensors.
  void backward_sum(torch::Tensor logit_gradient, torch::Tensor& sum);
  // [B] float64: the squared norm of each sample's gradient over all trainable parameters.
  torch::Tensor squared_norms() const;
  // [B] float64: upper bounds from which clipping factors are computed. Each is at least the value
  // of squared_norms(), and at least the squared norm of what add_clipped_sum() adds for the sample
  // at factor 1, up to the relative error norm_rounding() of the norm (samples.h).
  torch::Tensor squared_norm_bounds() const;
  // sum [d] += sum_i factors[i] g_i, for factors [B] in the type of the sum. Undefined factors: all
  // 1. Adds nothing if the records were freed.
  void add_clipped_sum(const torch::Tensor& factors, torch::Tensor& sum) const;
  // The same for each trainable layer: norms and factors are [L, B], with rows in the order of
  // trainable_layers().
  std::vector<TrainableLayer> trainable_layers() const;
  torch::Tensor squared_norms_by_layer() const;
  torch::Tensor squared_norm_bounds_by_layer() const;
  void add_clipped_sum_by_layer(const torch::Tensor& factors, torch::Tensor& sum) const;
  // Adds the clipped sum for factors [B], [L, B] or undefined, from the last layer to the first,
  // and frees each layer's records as soon as they are added. Norms stay available.
  void take_clipped_sum(const torch::Tensor& factors, torch::Tensor& sum);
  // The number of layer applications of which the recorded pass still holds tensors. Layers below
  // the lowest trainable layer hold none.
  std::int64_t activation_records() const;
  // Frees everything recorded, norms included.
  void forget();
  // Sets the records of the samples with rows[i] true ([B], bool) to zero, so that a sample with
  // NaN or infinite values adds 0 to the sum. Call it after backward().
  void drop_samples(const torch::Tensor& rows);

 private:
  struct Owner {
    std::string name;
    std::shared_ptr<Layer> layer;
    std::vector<ActivationRecord> records;
    std::vector<std::ptrdiff_t> slices;  // index of each parameter in layout_; -1: frozen
    bool trains = false;
    SquaredNorms squared_norms = {};  // of the last backward pass
    // The per-sample gradients that the norm rule returned, for the sum rule (layer.h).
    Tensors formed = {};
    // Views of parameters_ and frozen_. Of a layer that trains, the rules read them: where the type
    // of a frozen one is narrower, its values are those of the narrow pass.
    std::vector<BoundParameter> own = {};
    // Views of the parameters' copies in the compute type; empty until there are copies.
    std::vector<BoundParameter> narrow = {};
  };
  struct Step {
    std::size_t owner = 0;
    std::size_t record = 0;  // index in the owner's records
    std::vector<int> inputs;
    bool needs_gradient = false;  // this layer or one below it trains
    std::vector<bool> passes_on;  // whether each input needs a gradient
    // The last step that reads this step's output; the number of steps if none does.
    std::size_t last_reader = 0;
  };

  using Rule = std::function<void(std::span<const ActivationRecord>)>;

  Result<void> connect(const std::vector<Place>& places);
  void add_clipped_sum_of(const Owner& owner, const torch::Tensor& factors, torch::Tensor& sum) const;
  ActivationRecord recorded(const Step& step, Tensors inputs, torch::Tensor* output) const;
  // A block of steps that a recorded pass computes again on its way back.
  struct Block {
    graph::Span span;
    std::map<std::size_t, torch::Tensor> values;  // that its steps read of earlier ones
  };
  void record_again(Block& block);
  // Visits the steps from the last to the first. Calls `done` for each step of a layer that trains
  // once its record has the output gradient.
  void walk_back(torch::Tensor logit_gradient, const std::function<void(Owner&, const Step&)>& done);
  static void pass_on(const Step& step, Tensors found, Tensors& gradients);
  // Squared norms [B] of each layer that trains, in order, or their bounds.
  Tensors squared_norms_of_layers(bool bounds) const;
  Tensors views(const Owner& owner, const torch::Tensor& vector) const;
  Tensors inputs_of(const Step& step, const Tensors& values, const Tensors& inputs) const;
  Result<void> check_coverage() const;
  void bind_parameters(const torch::TensorOptions& options, const Trainable& trainable,
                       torch::ScalarType frozen);
  torch::Tensor tensor_in(const torch::Tensor& trainable, const torch::Tensor& frozen,
                          const std::string& name) const;
  std::vector<BoundParameter> bound(const Owner& owner, const torch::Tensor& trainable,
                                    const torch::Tensor& frozen) const;
  // Views of parameters_, and frozen weights in their type.
  std::vector<BoundParameter> in_full(const Owner& owner) const;
  bool is_narrow() const { return compute_type_ != parameters_.scalar_type(); }
  void make_narrow_copies(torch::ScalarType type);
  // Refreshes the copies of the weights and returns the inputs in the compute type.
  Tensors prepared(const Tensors& inputs) const;
  using Apply = std::function<torch::Tensor(std::size_t step, const Tensors& inputs)>;
  // The outputs of the steps before `end`, each by `apply`. One that is not read again is freed.
  Tensors values_before(std::size_t end, const Tensors& inputs, const Apply& apply) const;
  // The same without recording.
  Tensors values_before(std::size_t end, const Tensors& inputs) const;
  // Calls `rule` with the layer's records converted to `type`, while the layer uses the parameters
  // themselves and TF32 is off: the sensitivity of a release depends on what rules compute.
  void with_records(const Owner& owner, std::span<const ActivationRecord> own, torch::ScalarType type,
                    const Rule& rule) const;

  std::vector<Owner> owners_;
  std::vector<Step> steps_;
  std::vector<graph::Span> spans_;  // of all blocks
  std::vector<Block> blocks_;       // that are computed again
  Tensors recorded_inputs_;         // of the network, where blocks are computed again
  std::size_t head_ = SIZE_MAX;     // the step that features() stops before
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
