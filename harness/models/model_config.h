// A network's config.json, from its shape.
//
//   vit        timm's: a registered `architecture`, and `model_args` that give every size
//   gpt2       Hugging Face's; n_inner always said
//   llama      Hugging Face's; the rotary embedding as rope_theta and rope_scaling, which old and new readers know
//   the others this program's own: {"model_type": "hyfreedp-KIND", sizes}; a weights folder of such a network must have exactly
//              these, since names and shapes alone do not tell tanh from relu
// VitShape, Gpt2Shape and LlamaShape::from_json give the same shape back.
#pragma once

#include "harness/models/blueprint.h"

namespace hyfreedp::models {

json::object model_config(const Blueprint::Shape& shape);

// Whether a weights folder decides the network's sizes; those of the others are options.
bool has_sizes_of_folder(const Blueprint::Shape& shape);

}  // namespace hyfreedp::models
