// The facts that generated datasets share: anybody may have them, and options say how many examples
// there are.
#pragma once

#include "datasets/facts.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

// `facts`: name, title, sizes and the options that say what its examples look like.
inline Facts generated(Facts facts) {
  facts.source = "generated from a fixed random stream; holds nobody's data";
  facts.how_to_get = "nothing: it is generated";
  facts.public_train = true;
  const auto counts = {integer_option("train", 2000, 1, 1e7, "examples in private_train"),
                       integer_option("validation", 500, 1, 1e7, "examples in private_validation"),
                       integer_option("test", 500, 1, 1e7, "examples in test")};
  facts.options.insert(facts.options.begin(), counts.begin(), counts.end());
  return facts;
}

// The sizes, but for what its examples look like.
inline Sizes generated_sizes(const json::object& options) {
  return {.private_train = int_or(options, "train", 2000),
          .private_validation = int_or(options, "validation", 500),
          .test = int_or(options, "test", 500)};
}

}  // namespace hyfreedp::datasets
