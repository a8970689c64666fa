// Texts that a network writes after prompts, a token at a time, from the keys and values of the
// tokens before it. Prompts of different lengths are one batch: what pads them is never looked at.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/models/layers/network.h"
#include "harness/trial/generation.h"

namespace hyfreedp::models {

using Ids = std::vector<std::int64_t>;

struct Written {
  Ids ids;             // what follows the prompt, without the token that ends it
  bool ended = false;  // by that token, not for want of room
};

// Takes the texts of prompts `first`, `first` + 1, ...; false: no more are wanted.
using TakeTexts = std::function<bool(std::size_t first, std::span<const Written> texts)>;

// Continues each prompt of 1 token at least, `options.batch` of them at once, and hands the texts
// over in the prompts' order. The network reads from left to right (graph/left_to_right.h) and has
// places for the longest prompt and `options.tokens` more; check_beams holds.
//   end  the token that ends a text; nothing: no token does
// Draws for a prompt are of the seed and the prompt's number alone. Logits are rounded otherwise in
// other batches and with other numbers of threads, which can decide a token.
void continue_texts(const Network& network, std::span<const Ids> prompts,
                    const trial::GenerationOptions& options, std::optional<std::int64_t> end,
                    const TakeTexts& take);

// An error where a beam search needs a larger vocabulary.
Result<void> check_beams(const trial::GenerationOptions& options, std::int64_t vocabulary);

}  // namespace hyfreedp::models
