// Generated sequences of tokens, a noisy Markov chain: needs no file, holds nobody's data; for tests and smoke runs.
//
//   first token uniform; each later one successor(token before) with probability 1 - noise, else uniform; `successor` is one fixed
//   random permutation of the vocabulary
// The best loss in nats a token is known: with V tokens and p = 1 - noise + noise / V, -p log p - (1 - p) log(noise / V).
//
// Example i of a split depends on the options vocabulary, length and noise and on i alone. No seed, on purpose.
#pragma once

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_synthetic_tokens(const Facts& facts, const json::object& options);

}  // namespace hyfreedp::datasets
