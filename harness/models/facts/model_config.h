// The config.json of a network, from its shape.
//
//   vit, beit, clip, eva02, convnext   timm's: a registered `architecture`, and `model_args` with
//                every size. A head that joins blocks, which timm has not, is a `global_pool`
//   gpt2         Hugging Face's; n_inner is always given
//   llama        Hugging Face's; the rotary embedding is given as rope_theta and rope_scaling,
//                which old and new readers know
//   efficientnet-lite   this program's own, which decides the sizes: {"model_type":
//                "hyfreedp-efficientnet-lite", "widths", "blocks", "classes"}
//   squeezenet   this program's own, which decides the sizes: {"model_type": "hyfreedp-squeezenet",
//                "widths", "squeeze", "head", "classes"}
//   resnet-imagenet   this program's own, which decides the sizes: {"model_type":
//                "hyfreedp-resnet-imagenet", "widths", "blocks", "block", "classes"}
//   the others   this program's own: {"model_type": "hyfreedp-KIND", sizes}. A weights folder of
//                such a network must have exactly these sizes, because names and shapes of tensors
//                alone do not tell tanh from relu
// VitShape, ConvnextShape, EfficientNetLiteShape, SqueezeNetShape, ResnetImagenetShape, Gpt2Shape
// and LlamaShape::from_json read the same shape back, but for the image's side, which a
// convolutional network takes from the data.
#pragma once

#include "harness/models/facts/blueprint.h"

namespace hyfreedp::models {

json::object model_config(const Blueprint::Shape& shape);

// Whether a weights folder determines the network's sizes. For other networks the sizes are
// options.
bool has_sizes_of_folder(const Blueprint::Shape& shape);

}  // namespace hyfreedp::models
