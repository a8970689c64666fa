#include "harness/models/layer.h"

#include "harness/base/result.h"

namespace hyfreedp::models {

using torch::Tensor;

Tensor Layer::forward(const Tensor& input) const { return forward_recorded({input}, nullptr); }

Tensor Layer::forward_recorded(const Tensors& inputs, Tensors* saved) const {
  (void)saved;
  HYFREEDP_CHECK(inputs.size() == 1, "a layer with one input was given " + std::to_string(inputs.size()));
  return forward(inputs.front());
}

Tensor Layer::input_gradient(const Use& use) const {
  (void)use;
  HYFREEDP_CHECK(false, "a layer has no gradient to its input");
  return {};
}

Tensors Layer::input_gradients(const Use& use, const std::vector<bool>& needed) const {
  return {needed.front() ? input_gradient(use) : Tensor()};
}

}  // namespace hyfreedp::models
