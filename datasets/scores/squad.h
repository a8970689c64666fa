// Exact match and F1 of an answer, as the evaluation script of SQuAD v1.1 computes them (Rajpurkar
// et al., arXiv:1606.05250). Answers are compared in small letters, without punctuation of ASCII,
// the articles a, an, the, and white space beyond a blank. The script prints percent; these are
// shares.
#pragma once

#include <string_view>

#include "datasets/scores/examples.h"

namespace hyfreedp::scores {

// 1 if a reference is the same, else 0. A set has the mean.
double squad_exact_match(const Example& example);
// Harmonic mean of precision and recall of words, the best over the references; 0 if they share
// none. A set has the mean.
double squad_f1(const Example& example);

}  // namespace hyfreedp::scores
