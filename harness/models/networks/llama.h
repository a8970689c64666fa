// Llama (Touvron et al., arXiv:2302.13971; Grattafiori et al., arXiv:2407.21783) with Hugging
// Face's parameter names: RMSNorm, rotary positions, grouped-query attention, SwiGLU; biases where
// the config has them.
//
// Inputs: ids [B, T] int64 and, with `masked`, the attention mask [B, T] int64. Output: logits
// [B, T, vocabulary]. Initial values: normal 0.02. The rotary frequencies are
// theta^(-2 j / head_width), which `rope_scaling` may change:
//   linear   all are divided by `factor`
//   llama3   by wavelength: high frequencies stay, low ones are divided by `factor`, those between
//            are interpolated
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/models/networks/description.h"

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
  std::vector<double> frequencies;  // [head_width / 2], from rope_theta and rope_scaling
  double rope_theta = 10000;
  json::object rope_scaling;      // as in config.json; empty: the plain embedding
  std::int64_t positions = 2048;  // max_position_embeddings; it limits nothing here

  // Sizes by name, "llama-3.2-1b", "llama-3.2-3b" or "smollm2-135m", as a config.json.
  static Result<json::object> named_config(const std::string& name, const std::string& where);
  // Sizes from Hugging Face's config.json, with `rope_parameters` or the older `rope_theta` and
  // `rope_scaling`.
  static Result<LlamaShape> from_json(const json::object& config, const std::string& where);
};

Result<graph::Graph> graph_of(const LlamaShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const LlamaShape& shape);

Facts llama_facts();

}  // namespace hyfreedp::models
