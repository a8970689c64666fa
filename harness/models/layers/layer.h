// The interface of a layer that can compute the gradient of each sample separately
// ("book-keeping", Bu et al., arXiv:2210.00038).
//
// The forward pass records the input a of each application of a layer. The backward pass adds the
// gradient b of each sample's own loss with respect to the layer's output. From (a, b) a layer
// computes two things:
//   squared norms   of each sample's gradient, [B] float64, without forming the gradient where that
//                   is cheaper
//   clipped sum     sum_i c_i g_i, where the factors c_i are known only after the norms of all
//                   layers are
// One backward pass is therefore enough. The two computations are called the layer's rules.
//
// Requirements on every layer:
//   - Row i of every recorded tensor belongs to sample i and depends on sample i only. A layer that
//     mixes samples (BatchNorm) cannot meet this.
//   - A layer that is applied several times in one pass has one ActivationRecord for each
//     application. Its gradient is the sum over them, so squared norms include the cross terms.
//   - Norms are accumulated in float32 or wider, and are summed over layers in float64.
//   - ruled_parameters() names all parameters that the rules include, and the layer overrides both
//     rules for each of them. Network::make() fails for a trainable parameter that no layer names;
//     the reference tests compare both rules of every model with autograd.
//
// To add a layer, copy linear.h and linear.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <torch/types.h>
#include <vector>

#include "harness/models/layers/reading.h"

namespace hyfreedp::models {

// The name and shape of one parameter of a layer.
struct ParameterSpec {
  std::string name;  // within the layer, such as "weight"
  std::vector<std::int64_t> shape;
};

// A parameter as its layer holds it: a view of the network's storage.
struct BoundParameter {
  torch::Tensor value;
  bool trainable = true;
};

using Tensors = std::vector<torch::Tensor>;

// One application of a layer in a recorded pass. The first dimension of every tensor is the sample.
struct ActivationRecord {
  Tensors inputs;
  torch::Tensor output;
  Tensors saved;                  // what forward_recorded() saved for the gradients
  torch::Tensor output_gradient;  // gradient of each sample's own loss; set by the backward pass

  const torch::Tensor& input() const { return inputs.front(); }
};

// Squared norms of the samples' gradients, [B] float64 on the device of the pass.
struct SquaredNorms {
  torch::Tensor estimates;  // the computed squared norms
  // The amount to add for an upper bound: one sample's contribution to the clipped sum at factor 1
  // has at most the norm (1 + norm_rounding()) sqrt(estimate + slack) (samples.h).
  torch::Tensor slack;

  // Adds `squares` [B], whose relative error is within norm_rounding(), to the estimates.
  SquaredNorms& add_(const torch::Tensor& squares) {
    estimates.add_(squares);
    return *this;
  }
  torch::Tensor bounds() const { return estimates + slack; }
};

class Layer {
 public:
  virtual ~Layer() = default;

  // True if the output for one sample depends on the other samples of the batch (BatchNorm). Such a
  // layer has no per-sample gradients, and Network::make() refuses it even if its parameters are
  // frozen.
  virtual bool mixes_samples() const { return false; }

  virtual std::vector<ParameterSpec> parameters() const { return {}; }
  // Gives the layer its parameters, in the order of parameters(). The network calls it again when
  // it changes between its parameters and their copies in another type.
  virtual void bind(std::vector<BoundParameter> parameters) { (void)parameters; }
  // Names of the parameters that the two rules below include.
  virtual std::vector<std::string> ruled_parameters() const { return {}; }

  // The output. A layer overrides forward(), or forward_recorded() where it has several inputs or
  // saves values; each calls the other if it is not overridden.
  virtual torch::Tensor forward(const torch::Tensor& input) const;
  // The output. Writes what the gradients need to `saved`, which is null in a pass without
  // gradients.
  virtual torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const;

  // The output for tokens that continue texts, without recording. A layer that computes each
  // position from that position alone needs no more than forward_recorded(); one that has places or
  // reads earlier ones overrides this. `past` belongs to the layer's place of the network.
  virtual torch::Tensor forward_next(const Tensors& inputs, const NextTokens& tokens,
                                     KeysAndValues& past) const {
    (void)tokens, (void)past;
    return forward_recorded(inputs, nullptr);
  }

  // The record's values that input_gradients() reads besides `saved` and the output gradient. The
  // network frees the values of a tensor that neither it nor the rules read; only the shape stays.
  struct Reads {
    bool inputs = true;
    bool output = true;
  };
  virtual Reads gradient_reads() const { return {}; }
  // True if the two rules below read the inputs. They never read the output.
  virtual bool rules_read_inputs() const { return true; }

  // The gradient of each sample's loss with respect to the layer's only input, in the input's
  // shape. A layer without parameters may overwrite the output gradient with it if nothing else
  // uses that tensor (is_own(), samples.h): the network discards the record afterwards.
  virtual torch::Tensor input_gradient(const ActivationRecord& record) const;
  // The gradient with respect to each input. It is an undefined tensor where `needed` is false and
  // for inputs without a gradient (token ids, masks).
  virtual Tensors input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const;

  // The norm rule. Adds to squared_norms.estimates[i] the squared norm of the gradient of sample
  // i's loss with respect to the layer's trainable parameters, and to squared_norms.slack[i] what
  // an estimate that may cancel can lack (add_beyond_rounding(), samples.h).
  //   records   all applications of the layer in this pass
  //   returns   the per-sample gradients that were formed on the way, [B, ...] each, in the order
  //             of parameters() and in the layout that add_clipped_sums() reads. An entry is
  //             undefined where no gradient was formed; the list is empty if none was. If the
  //             gradients of all trainable parameters were formed, the network keeps these
  //             instead of the records' values.
  virtual Tensors add_squared_norms(std::span<const ActivationRecord> records,
                                    SquaredNorms& squared_norms) const {
    (void)records, (void)squared_norms;
    return {};
  }
  // True if the norm rule takes these records in a pass's narrow type (bfloat16); otherwise the
  // network converts them to the parameters' type first.
  virtual bool norm_rule_reads_narrow(std::span<const ActivationRecord> records) const {
    (void)records;
    return false;
  }
  // The sum rule: sums[p] += sum_i factors[i] * gradient of sample i's loss w.r.t. parameter p.
  //   records  as above, converted to the type of the sums
  //   formed   what add_squared_norms() returned for these records, in the type of the sums; empty
  //            in a pass without norms
  //   factors  [B] in the type of the sums; undefined: all 1
  //   sums     one tensor for each parameter, of its shape; undefined where it is frozen
  virtual void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                                const torch::Tensor& factors, std::span<torch::Tensor> sums) const {
    (void)records, (void)formed, (void)factors, (void)sums;
  }
};

}  // namespace hyfreedp::models
