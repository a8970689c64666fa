// NIST (Doddington, HLT 2002) of a set of texts with runs of up to five tokens, as the E2E
// challenge's mteval-v13a computes it, with 13a tokens (tokens_13a.h).
//
//   sum over n = 1 .. 5 of (information of the runs of n tokens that a reference has, too) / (all
//   runs of n tokens), times exp(ln(1/2) / ln(3/2)^2 * ln(min(1, c / r))^2)
//   information  of a run: log2 of how often the references of the set have the run without its
//                last token, over how often they have it; of one token, of all their tokens over it
//   found        as often as the reference that has it most often
//   c, r         tokens of the texts; tokens of all references over the mean number of references
#pragma once

#include <span>

#include "datasets/scores/examples.h"

namespace hyfreedp::scores {

// 0 or more, without an upper bound; 0 where the texts have no token.
double nist_mteval13a(std::span<const TokenExample> examples);

}  // namespace hyfreedp::scores
