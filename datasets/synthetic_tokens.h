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

struct SyntheticTokensOptions {
  std::int64_t vocabulary = 32, length = 16;
  double noise = 0.2;
  std::optional<std::int64_t> classes;
};
BOOST_DESCRIBE_STRUCT(SyntheticTokensOptions, (), (vocabulary, length, noise, classes))

struct SyntheticTokens {
  static Facts facts() {
    return generated(
        {.name = "synthetic-tokens",
         .title = "Generated sequences",
         .options = options_of<SyntheticTokensOptions>(
             {ranged_option("vocabulary", 2, 1e6, "different tokens"),
              ranged_option("length", 2, 65536, "tokens of an example"),
              ranged_option("noise", 0, 1, "probability that a token is drawn at random"),
              later_option(ranged_option("classes", 2, 1000,
                                         "classes of the examples, which then have no labels of tokens"))}),
         .sizes = sizes});
  }
  static Sizes sizes(const json::object& options) {
    const auto own = read_options<SyntheticTokensOptions>(options);
    return generated_sizes({.classes = own.classes.value_or(own.vocabulary),
                            .features = own.length,
                            .length = own.length,
                            .vocabulary = own.vocabulary,
                            .labels = own.classes ? LabelKind::classes : LabelKind::tokens},
                           options);
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

}  // namespace hyfreedp::datasets
