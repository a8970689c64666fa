// Loads the weights of a folder into a newly initialised model (weights_source.h says where the
// folder is looked for).
//   ViT      a position embedding of another image size is resampled. Option `head`: "new" keeps
//            the initial head, "file" uses the file's
//   EfficientNet-Lite   a published folder's BatchNorms are folded into the convolutions
//            (batch_norm_folding.h). Option `head` as of ViT
//   SqueezeNet   arrays with the names of the authors' Caffe network are brought into this
//            network's form (squeezenet_weights.h). Option `head` as of ViT
//   ResNet for ImageNet   a published folder's BatchNorms are folded into the convolutions
//            (batch_norm_folding.h). Option `head` as of ViT
//   ConvNeXt   option `head` as of ViT
//   GPT-2    names with or without "transformer."; stored masks are ignored. A tied embedding may
//            have its own name, the output projection's, or both
//   Llama    stored rotary frequencies are ignored. A tied embedding as of GPT-2
//   others   the folder's config.json must describe exactly this network (description.h); where
//            its number of classes is another, the head keeps its initial values
// Adapters keep their initial values. Any other missing, unexpected or misshaped tensor is listed
// in an error.
#pragma once

#include "harness/models/facts/blueprint.h"
#include "harness/models/layers/network.h"

namespace hyfreedp::models {

// Does nothing if the options name no weights. If the options have a checksum, an error unless it
// is the folder's.
Result<void> load_pretrained(Network& network, const Blueprint& plan, const json::object& options);

}  // namespace hyfreedp::models
