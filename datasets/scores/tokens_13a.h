// The tokens of NIST's script mteval-v13a, from which BLEU and NIST are computed, with letters A to
// Z made small (its default); other letters stay as they are. Punctuation of ASCII is cut off, but
// for what stands within words (' and -) and within numbers (. and ,).
#pragma once

#include <string_view>

#include "datasets/scores/examples.h"

namespace hyfreedp::scores {

Tokens tokens_13a(std::string_view text);
TokenExample tokens_13a(const Example& example);

}  // namespace hyfreedp::scores
