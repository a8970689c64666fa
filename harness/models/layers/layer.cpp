#include "harness/models/layers/layer.h"

#include "harness/base/result.h"

namespace hyfreedp::models {

using torch::Tensor;

Tensor Layer::forward(const Tensor& input) const { return forward_recorded({input}, nullptr); }

Tensor Layer::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  (void)saved;
  HYFREEDP_CHECK(inputs.size() == 1, "a layer with one input was given " + std::to_string(inputs.size()));
  return forward(inputs.front());
}

Tensor Layer::input_gradient(const ActivationRecord& record) const {
  (void)record;
  HYFREEDP_CHECK(false, "a layer has no gradient to its input");
  return {};
}

Tensors Layer::input_gradients(const ActivationRecord& record, const std::vector<bool>& needed) const {
  return {needed.front() ? input_gradient(record) : Tensor()};
}

}  // namespace hyfreedp::models
