// Weights of a folder into a model that was just initialised (weights_source.h says where the folder is looked for).
//   ViT     a position embedding of another image size is resampled; option head: new keeps the drawn head, file takes the file's
//   GPT-2   names with or without "transformer."; stored masks and a copy of the tied head are left
//   others  the folder's config.json must say the very network (model_config.h)
//   Llama   stored rotary frequencies and a copy of the tied head are left
// Adapters keep their initial values. Anything else that is missing, unexpected or misshaped is an error that lists it.
#pragma once

#include "harness/models/blueprint.h"
#include "harness/models/network.h"

namespace hyfreedp::models {

// Nothing where the options name no weights. The checksum in the options, where there is one, must be the folder's.
Result<void> load_pretrained(Network& network, const Blueprint& plan, const json::object& options);

}  // namespace hyfreedp::models
