// GPT-2 (Radford et al., 2019) with Hugging Face's parameter names: learned positions, pre-norm
// blocks, Conv1D weights stored [in, out], GELU by tanh. The output projection is tied to the token
// embedding unless the config unties it. There is no dropout.
//
// Inputs: ids [B, T] int64 and, with `masked`, the attention mask [B, T] int64. Output: logits
// [B, T, vocabulary].
#pragma once

#include "harness/models/facts/gpt2_shape.h"
#include "harness/models/networks/builder.h"

namespace hyfreedp::models {

Result<Network> make_gpt2(const Gpt2Shape& shape, const std::optional<Lora>& lora,
                          const torch::TensorOptions& options, const Network::Trainable& trainable);

}  // namespace hyfreedp::models
