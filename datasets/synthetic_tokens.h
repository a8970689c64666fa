// Generated sequences of tokens, a noisy Markov chain, for tests and smoke runs. The dataset needs
// no file and contains nobody's data.
//
// The first token is uniform. Each later token is successor(token before) with probability
// 1 - noise, and else uniform; `successor` is one fixed random permutation of the vocabulary. The
// best possible loss in nats a token is known: with V tokens and p = 1 - noise + noise / V, it is
// -p log p - (1 - p) log(noise / V).
//
// Example i of a split depends on the options vocabulary, length and noise and on i alone. It has
// no seed on purpose.
#pragma once

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_synthetic_tokens(const Facts& facts, const json::object& options);

}  // namespace hyfreedp::datasets
