#include "harness/models/weights/resnet_imagenet_weights.h"

#include <algorithm>

#include "harness/models/weights/batch_norm_folding.h"

namespace hyfreedp::models {

bool has_batch_norms(const NamedTensors& file) {
  return std::ranges::any_of(file, [](const auto& one) { return one.first.ends_with(".running_var"); });
}

Result<NamedTensors> folded_resnet_imagenet(const ResnetImagenetShape& shape, const NamedTensors& file,
                                            bool with_head) {
  NormedNetwork network{.eps = 1e-5,
                        .convolutions = {},
                        .head = "fc",
                        .head_file = "fc",
                        .head_shape = {shape.classes, shape.features()}};
  for (const auto& one : shape.list_convolutions()) {
    network.convolutions.push_back(
        {one.name, one.name, one.norm, {one.outputs, one.inputs, one.kernel, one.kernel}});
  }
  return fold_batch_norms(network, file, with_head);
}

}  // namespace hyfreedp::models
