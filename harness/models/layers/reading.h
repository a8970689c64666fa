// Reading texts from left to right, a few tokens at a time: what a network keeps of the tokens that
// it has read (Network::next_logits). Rows are texts, each with a length of its own.
#pragma once

#include <cstdint>
#include <torch/types.h>
#include <vector>

namespace hyfreedp::models {

// The keys and values of one attention layer, [B, kv_heads, capacity, head_width] each, rotated if
// the layer rotates. Undefined before the first tokens.
struct KeysAndValues {
  torch::Tensor keys, values;
};

// The tokens that one pass reads.
struct NextTokens {
  torch::Tensor positions;    // [B, T] int64: each token's place in its text
  std::int64_t reach = 0;     // above all positions
  std::int64_t capacity = 0;  // places that a text may have
};

// All that was read of B texts.
struct Reading {
  std::int64_t capacity = 0;             // tokens that a text may have
  torch::Tensor lengths;                 // [B] int64: tokens read of each
  std::vector<KeysAndValues> past = {};  // of each place of the network

  static Reading begin(std::int64_t batch, std::int64_t capacity, torch::Device device);
  // Goes on with these rows ([B'] int64), in this order; the same row may come several times.
  void select(const torch::Tensor& rows);
};

}  // namespace hyfreedp::models
