// Drawing a token from the likeliest ones (Holtzman et al., arXiv:1904.09751).
#pragma once

#include <cstdint>
#include <span>
#include <torch/types.h>
#include <vector>

namespace hyfreedp::models {

// One token for each row of logits [B, V]. With p = softmax(logits / temperature), tokens sorted by
// p (of equals the smaller id first), the nucleus is the fewest first ones whose p add up to
// `top_p` or more; a token of it is drawn with probability p / (sum of the nucleus).
//   top_p        in (0, 1]
//   temperature  above 0
//   uniforms     [B], in [0, 1): where the draw falls among the cumulated probabilities
std::vector<std::int64_t> draw_tokens(const torch::Tensor& logits, double top_p, double temperature,
                                      std::span<const double> uniforms);

}  // namespace hyfreedp::models
