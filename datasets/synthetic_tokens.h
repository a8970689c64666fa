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

#include "datasets/generated.h"

namespace hyfreedp::datasets {

struct SyntheticTokens {
  static Facts facts() {
    return generated(
        {.name = "synthetic-tokens",
         .title = "Generated sequences",
         .options = {integer_option("vocabulary", 32, 2, 1e6, "different tokens"),
                     integer_option("length", 16, 2, 65536, "tokens of an example"),
                     real_option("noise", 0.2, 0, 1, "probability that a token is drawn at random")},
         .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    auto sizes = generated_sizes(options);
    sizes.vocabulary = sizes.classes = int_or(options, "vocabulary", 32);
    sizes.length = sizes.features = int_or(options, "length", 16);
    sizes.labels = LabelKind::tokens;
    return sizes;
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
