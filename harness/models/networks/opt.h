// OPT (Zhang et al., arXiv:2205.01068) with Hugging Face's parameter names: learned positions from
// row 2 of their table on, pre-norm blocks, ReLU. The output projection is tied to the token
// embedding unless the config unties it. There is no dropout. The 350M model, which norms after its
// branches and has narrower embeddings, is refused.
//
// Inputs: ids [B, T] int64 and, with `masked`, the attention mask [B, T] int64. Output: logits
// [B, T, vocabulary]. Initial values: normal 0.02.
#pragma once

#include <cstdint>
#include <string>

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

struct OptShape {
  std::int64_t vocabulary = 50272;
  std::int64_t positions = 2048;
  std::int64_t width = 768;
  std::int64_t depth = 12;
  std::int64_t heads = 12;
  std::int64_t hidden = 3072;
  bool tied = true;
  bool masked = true;

  // Sizes by name: "opt-125m", "opt-1.3b", "opt-2.7b", "opt-6.7b", "opt-13b", "opt-30b", "opt-66b".
  // An error that begins with `where` for another name.
  static Result<OptShape> named(const std::string& name, const std::string& where);
  // Sizes from Hugging Face's config.json. An error names any option that changes the network and
  // is not supported.
  static Result<OptShape> from_json(const json::object& config, const std::string& where);
};

Result<graph::Graph> graph_of(const OptShape& shape, const std::optional<Lora>& lora = {});

json::object model_config(const OptShape& shape);

Facts opt_facts();

}  // namespace hyfreedp::models
