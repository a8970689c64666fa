// GPT-2 (Radford et al., 2019) with Hugging Face's parameter names: learned positions, pre-norm
// blocks, Conv1D weights stored [in, out], GELU by tanh. The output projection is tied to the token
// embedding unless the config unties it. There is no dropout.
//
// Inputs: ids [B, T] int64 and, with `masked`, the attention mask [B, T] int64. Output: logits
// [B, T, vocabulary]. Initial values: normal 0.02, projections into the residual stream
// 0.02 / sqrt(2 depth).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct Gpt2Shape {
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;
  std::int64_t width = 768;
  std::int64_t depth = 12;
  std::int64_t heads = 12;
  std::int64_t hidden = 3072;
  double eps = 1e-5;
  bool tied = true;
  bool masked = true;

  // Sizes by name: "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "distilgpt2". An error that
  // begins with `where` for another name.
  static Result<Gpt2Shape> named(const std::string& name, const std::string& where);
  // Sizes from Hugging Face's config.json. An error names any option that changes the network and
  // is not supported.
  static Result<Gpt2Shape> from_json(const json::object& config, const std::string& where);
};

Result<graph::Graph> graph_of(const Gpt2Shape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const Gpt2Shape& shape);

Facts gpt2_facts();

}  // namespace hyfreedp::models
