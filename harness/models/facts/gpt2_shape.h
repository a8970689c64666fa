// The sizes of a GPT-2 network (gpt2.h), without LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/json.h"

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

}  // namespace hyfreedp::models
