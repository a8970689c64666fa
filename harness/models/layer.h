// The contract of a layer that knows its own per-sample gradients ("book-keeping", Bu et al.,
// arXiv:2210.00038).
//
// One forward pass records, for each application of a layer, its input a; one backward pass adds
// the gradient b of each sample's own loss with respect to the layer's output. From (a, b) alone a
// layer's rules give
//   squared norm   of each sample's gradient, [B] float64, without forming it if that is cheaper
//   clipped sum    sum_i c_i g_i, for factors c_i known only after all layers' norms are
// so that the backward pass runs once.
//
// Invariants
//   - Row i of every recorded tensor belongs to sample i and depends on sample i alone: a layer
//     that mixes samples (BatchNorm) cannot keep this contract.
//   - A layer applied several times in one pass has one ActivationRecord for each; its gradient is
//     the sum over them, so squared norms include the cross terms.
//   - Norms are accumulated in float32 or wider and summed over layers in float64.
//   - A trainable parameter that ruled_parameters() leaves out is an error that names it
//     (network.h), never a parameter that silently goes without clipping.
//
// Called by: harness/models/network. To add a layer: copy linear.h and linear.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <torch/types.h>
#include <vector>

namespace hyfreedp::models {

struct ParameterSpec {
  std::string name;  // within the layer: "weight"
  std::vector<std::int64_t> shape;
};

// A parameter as its layer holds it: a view of the network's storage.
struct BoundParameter {
  torch::Tensor value;
  bool trainable = true;
};

using Tensors = std::vector<torch::Tensor>;

// One application of a layer in a recorded pass. First dimension of every tensor: sample.
struct ActivationRecord {
  Tensors inputs;
  torch::Tensor output;
  Tensors saved;                  // what the layer kept for its gradients
  torch::Tensor output_gradient;  // of each sample's own loss; set by the backward pass

  const torch::Tensor& input() const { return inputs.front(); }
};

// Squared norms of a pass's samples, [B] float64 on the pass's device.
struct SquaredNorms {
  torch::Tensor estimates;
  torch::Tensor slack;  // what rounding may lack: no sample's sum at factor 1 is longer than
                        // sqrt(estimate + slack), but for the share that norm_rounding() bounds

  SquaredNorms& add_(const torch::Tensor& squares) {  // [B]: numbers whose rounding is that share
    estimates.add_(squares);
    return *this;
  }
  torch::Tensor bounds() const { return estimates + slack; }
};

class Layer {
 public:
  virtual ~Layer() = default;

  // True of a layer whose output for one sample depends on the others of its batch (BatchNorm). Its
  // per-sample gradients do not exist, so a network refuses it by name; trains or not, what it
  // computes leaks other samples into each gradient.
  virtual bool mixes_samples() const { return false; }

  virtual std::vector<ParameterSpec> parameters() const { return {}; }
  // Once, in the order of parameters().
  virtual void bind(std::vector<BoundParameter> parameters) { (void)parameters; }
  // Names of the parameters that the two rules below account for.
  virtual std::vector<std::string> ruled_parameters() const { return {}; }

  // Of a layer with one input; others define forward_recorded alone.
  virtual torch::Tensor forward(const torch::Tensor& input) const;
  // `saved`: null in a pass without gradients.
  virtual torch::Tensor forward_recorded(const Tensors& inputs, Tensors* saved) const;

  // What input_gradients() reads of a record beyond `saved` and the output gradient. The network
  // keeps nothing else between the passes: where a flag is false (and the rules do not read the
  // inputs), a tensor has its sizes and no values.
  struct Reads {
    bool inputs = true;
    bool output = true;
  };
  virtual Reads gradient_reads() const { return {}; }
  // The two rules below read the inputs. (They never read the output.)
  virtual bool rules_read_inputs() const { return true; }

  // Gradient of each sample's loss with respect to the layer's one input. A layer without
  // parameters may write it over the output gradient where nobody else holds that
  // (samples.h, is_own): the network lets go of such a record at once.
  virtual torch::Tensor input_gradient(const ActivationRecord& record) const;
  // With respect to each input; undefined where `needed` is false or there is none (ids, masks).
  virtual Tensors input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const;

  // squared_norms[i] += ||gradient of sample i's loss with respect to the trainable parameters||^2,
  // with what rounding may lack (samples.h).
  //   squared_norms  [B] float64
  //   returns        the per-sample gradients that the rule formed on its way, [B, ...] each in the
  //                  order of parameters() and laid out as add_clipped_sums() reads them; undefined
  //                  for parameters whose gradients were not formed, empty where none was. Of a
  //                  layer with all its trainable ones formed the network keeps nothing else.
  virtual Tensors add_squared_norms(std::span<const ActivationRecord> records,
                                    SquaredNorms& squared_norms) const {
    (void)records, (void)squared_norms;
    return {};
  }
  // sums[p] += sum_i factors[i] * gradient of sample i's loss with respect to parameter p.
  //   formed   what add_squared_norms() returned for these records, in the sums' type; empty in a
  //            pass without norms
  //   factors  [B] in the sums' type; undefined: all 1
  //   sums     of the shape of parameter p; undefined where p is frozen. Records come in the sums'
  //            type.
  virtual void add_clipped_sums(std::span<const ActivationRecord> records, const Tensors& formed,
                                const torch::Tensor& factors, std::span<torch::Tensor> sums) const {
    (void)records, (void)formed, (void)factors, (void)sums;
  }
};

}  // namespace hyfreedp::models
