// BLEU (Papineni et al., ACL 2002) of a set of texts, as NIST's script mteval-v13a computes it,
// with 13a tokens (tokens_13a.h).
//
//   exp((ln p_1 + ... + ln p_4) / 4) * min(1, exp(1 - r / c))
//   p_n   runs of n tokens that a reference has, too (as often as the one that has it most often),
//         over all runs of n tokens, of the whole set. Where none is found, the first such p_n has
//         1/2 in place of 0 found, the next 1/4, ...; where there are no runs at all, it is left
//         out of the sum
//   c, r  tokens of the texts, and of each text's reference that is nearest in length (the shorter
//         of two)
#pragma once

#include <span>

#include "datasets/scores/examples.h"

namespace hyfreedp::scores {

// In [0, 1]; 0 where the texts have no token.
double bleu_mteval13a(std::span<const TokenExample> examples);

}  // namespace hyfreedp::scores
