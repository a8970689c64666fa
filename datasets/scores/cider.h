// CIDEr-D (Vedantam et al., arXiv:1411.5726) as pycocoevalcap computes it: runs of 1 to 4 tokens
// weighted by how few examples of the set have them in a reference, sigma 6, times 10.
//
//   weight      count of the run in the text times ln(N / number of examples with it, 1 at least)
//   similarity  of a text and a reference, for each length of run: sum of min(weight in the text,
//               weight in the reference) * weight in the reference, over both norms, times
//               exp(-(difference in length)^2 / 72); its length is the number of pairs of tokens
//   score       10 times the mean over lengths and references
// If the set has one example, all weights are 0, and so is the score. The E2E challenge computes it
// from tokens of Stanford's tokenizer; other tokens give another number.
#pragma once

#include <span>
#include <vector>

#include "datasets/scores/examples.h"

namespace hyfreedp::scores {

// The score of each example, from 0 to 10; that of the set is their mean.
std::vector<double> cider_coco(std::span<const TokenExample> examples);

}  // namespace hyfreedp::scores
