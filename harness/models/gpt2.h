// GPT-2 (Radford et al., 2019) with Hugging Face's names: learned positions, pre-norm blocks, Conv1D weights [in, out], GELU by
// tanh, the output projection tied to the token embedding unless the config says otherwise. No dropout.
//
// Inputs: ids [B, T] int64 and, with `masked`, the attention mask [B, T] int64. Output: logits [B, T, vocabulary].
#pragma once

#include "harness/models/builder.h"

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

  // Hugging Face's config.json; options that change the network and are not supported are refused by name.
  static Result<Gpt2Shape> from_json(const json::object& config, const std::string& where);
};

Result<Network> make_gpt2(const Gpt2Shape& shape, const std::optional<Lora>& lora,
                          const torch::TensorOptions& options, const Network::Trainable& trainable);

}  // namespace hyfreedp::models
