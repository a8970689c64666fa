// Llama (Touvron et al., arXiv:2302.13971; Grattafiori et al., arXiv:2407.21783) with Hugging
// Face's parameter names: RMSNorm, rotary positions, grouped-query attention, SwiGLU; biases where
// the config has them.
//
// Inputs: ids [B, T] int64 and, with `masked`, the attention mask [B, T] int64. Output: logits
// [B, T, vocabulary]. The rotary frequencies are theta^(-2 j / head_width), which `rope_scaling`
// may change:
//   linear   all are divided by `factor`
//   llama3   by wavelength: high frequencies stay, low ones are divided by `factor`, those between
//            are interpolated
#pragma once

#include "harness/models/facts/llama_shape.h"
#include "harness/models/networks/builder.h"

namespace hyfreedp::models {

Result<Network> make_llama(const LlamaShape& shape, const std::optional<Lora>& lora,
                           const torch::TensorOptions& options, const Network::Trainable& trainable);

}  // namespace hyfreedp::models
