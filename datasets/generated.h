// The facts that generated datasets share: anybody may have them, and options say how many examples
// there are.
#pragma once

#include "datasets/facts.h"
#include "harness/base/describe.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

// Numbers of examples.
struct GeneratedOptions {
  std::int64_t train = 2000, validation = 500, test = 500;
};
BOOST_DESCRIBE_STRUCT(GeneratedOptions, (), (train, validation, test))

// `facts`: name, title, sizes and the options that say what its examples look like.
inline Facts generated(Facts facts) {
  facts.source = "generated from a fixed random stream; holds nobody's data";
  facts.how_to_get = "nothing: it is generated";
  facts.public_train = true;
  const auto counts =
      options_of<GeneratedOptions>({ranged_option("train", 1, 1e7, "examples in private_train"),
                                    ranged_option("validation", 1, 1e7, "examples in private_validation"),
                                    ranged_option("test", 1, 1e7, "examples in test")});
  facts.options = joined({counts, facts.options});
  return facts;
}

// `sizes`, which say what its examples look like, with their numbers.
inline Sizes generated_sizes(Sizes sizes, const json::object& options) {
  const auto n = read_options<GeneratedOptions>(options);
  sizes.private_train = n.train;
  sizes.private_validation = n.validation;
  sizes.test = n.test;
  return sizes;
}

}  // namespace hyfreedp::datasets
