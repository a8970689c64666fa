// ConvNeXt (convnext_shape.h describes it). Between the layers an image's places are a sequence of
// tokens, as LayerNorm and the linear layers read them; the convolutions read them as an image.
//
// Input: images [B, 3, side, side], or the same numbers as [B, 3 * side * side]. Output: logits
// [B, classes].
#pragma once

#include "harness/models/facts/convnext_shape.h"
#include "harness/models/networks/builder.h"

namespace hyfreedp::models {

Result<Network> make_convnext(const ConvnextShape& shape, const std::optional<Lora>& lora,
                              const torch::TensorOptions& options, const Network::Trainable& trainable);

}  // namespace hyfreedp::models
