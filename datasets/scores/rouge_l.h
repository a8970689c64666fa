// ROUGE-L (Lin, 2004) of a text as pycocoevalcap computes it: an F score with beta 1.2 of precision
// and recall of the longest common subsequence, each the best over the references by itself. A text
// without tokens counts as one empty token. The E2E challenge computes it from tokens of Stanford's
// tokenizer; from other tokens it is not its number.
#pragma once

#include "datasets/scores/examples.h"

namespace hyfreedp::scores {

// In [0, 1]; of a set, the mean.
double rouge_l_coco(const TokenExample& example);

}  // namespace hyfreedp::scores
