// METEOR (Lavie and Agarwal, WMT 2007) of a text as NLTK computes it, but with exact and stem
// matches alone (porter_stemmer.h): neither synonyms nor paraphrases, so it is not the number of
// METEOR's own program, which the E2E challenge uses.
//
//   (1 - 0.5 (chunks / matches)^3) P R / (0.9 P + 0.1 R), the best over the references; P, R:
//   matched tokens over those of the text, of the reference
//   matches  each token of the text, from the last to the first, with the last equal token of the
//            reference that is left; those that are left, the same by their stems
//   chunks   runs of matches that follow each other in both
#pragma once

#include "datasets/scores/examples.h"

namespace hyfreedp::scores {

// The score, in [0, 1); 0 if nothing matches. A set has the mean. Tokens are compared in
// lower case.
double meteor_exact_and_stem(const TokenExample& example);

}  // namespace hyfreedp::scores
