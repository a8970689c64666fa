// Llama (Touvron et al., arXiv:2302.13971; Grattafiori et al., arXiv:2407.21783) with Hugging Face's names: RMSNorm, rotary
// positions, grouped-query attention, SwiGLU; biases where the config has them.
//
// Inputs: ids [B, T] int64 and, with `masked`, the attention mask [B, T] int64. Output: logits [B, T, vocabulary].
// Rotary frequencies: theta^(-2 j / head_width), and after them
//   linear   divided by `factor`
//   llama3   by wavelength: short ones kept, long ones divided by `factor`, in between interpolated
#pragma once

#include "harness/models/builder.h"

namespace hyfreedp::models {

struct LlamaShape {
  std::int64_t vocabulary = 32000;
  std::int64_t width = 4096;
  std::int64_t hidden = 11008;
  std::int64_t depth = 32;
  std::int64_t heads = 32;
  std::int64_t kv_heads = 32;
  std::int64_t head_width = 128;
  double eps = 1e-6;
  bool tied = false;
  bool attention_bias = false;
  bool mlp_bias = false;
  bool masked = true;
  std::vector<double> frequencies;  // [head_width / 2]

  // Hugging Face's config.json, `rope_parameters` (or the older `rope_theta` and `rope_scaling`).
  static Result<LlamaShape> from_json(const json::object& config, const std::string& where);
};

Result<Network> make_llama(const LlamaShape& shape, const std::optional<Lora>& lora,
                           const torch::TensorOptions& options, const Network::Trainable& trainable);

}  // namespace hyfreedp::models
