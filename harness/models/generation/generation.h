// Texts that a network writes after prompts, a token at a time, from the keys and values of the
// tokens before it. Prompts of different lengths are one batch: what pads them is never looked at.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/models/layers/network.h"
#include "harness/trial/generation.h"

namespace hyfreedp::models {

using Ids = std::vector<std::int64_t>;

struct Written {
  Ids ids;             // what follows the prompt, without the token that ends it
  bool ended = false;  // by that token, not for want of room
};

// Continues each prompt of 1 token at least. The network reads from left to right
// (graph/left_to_right.h) and has places for the longest prompt and `options.tokens` more.
//   end    the token that ends a text; nothing: no token does
//   first  the number of the first prompt: nucleus draws for prompt i depend on the seed and first
//          + i alone, so that equal seeds give equal texts however prompts are divided into calls
// Beam search needs a vocabulary of at least twice the number of beams. `options.batch` prompts are
// continued at once.
std::vector<Written> continue_texts(const Network& network, std::span<const Ids> prompts,
                                    const trial::GenerationOptions& options, std::optional<std::int64_t> end,
                                    std::uint64_t first = 0);

}  // namespace hyfreedp::models
