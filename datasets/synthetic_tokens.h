// Generated sequences of tokens, a noisy Markov chain, for tests and smoke runs. The dataset needs
// no file and contains nobody's data.
//
// The first token is uniform. Each later token is successor(token before) with probability
// 1 - noise, and else uniform; `successor` is one fixed random permutation of the vocabulary. The
// best possible loss in nats a token is known: with V tokens and p = 1 - noise + noise / V, it is
// -p log p - (1 - p) log(noise / V).
//
// With `classes` each example has a class in place of labels of its tokens. Each class has its own
// permutation, of the tokens 1, 2, ...; an example has between half and all of `length` tokens,
// after which stands 0 as padding.
//
// Example i of a split depends on the options vocabulary, length, noise and classes and on i alone.
// It has no seed on purpose.
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
                     real_option("noise", 0.2, 0, 1, "probability that a token is drawn at random"),
                     classes_option()},
         .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    auto sizes = generated_sizes(options);
    sizes.vocabulary = sizes.classes = int_or(options, "vocabulary", 32);
    sizes.length = sizes.features = int_or(options, "length", 16);
    sizes.labels = LabelKind::tokens;
    if (const auto classes = int_or(options, "classes", 0); classes > 0) {
      sizes.classes = classes;
      sizes.labels = LabelKind::classes;
    }
    return sizes;
  }
  static OptionSpec classes_option() {
    return {.name = "classes",
            .type = OptionType::integer,
            .default_value = nullptr,
            .help = "classes of the examples, which then have no labels of tokens",
            .min = 2,
            .max = 1000,
            .stored_always = false};
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
