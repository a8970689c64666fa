// The scores of written texts against references, as a list: names, definitions, values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datasets/scores/examples.h"
#include "harness/base/result.h"

namespace hyfreedp::scores {

struct TextScore {
  // The name in outputs and columns. It says whose definition it is, and of which tokens.
  const char* name;
  // The definition's source and version, and how it differs from a better-known score.
  const char* definition;
  double (*compute)(std::span<const Example> examples, std::span<const TokenExample> tokens);
};

// The scores in the order in which they are shown. The higher, the better.
std::span<const TextScore> text_scores();

struct NamedValue {
  std::string name;
  double value = 0;
};

// All of them. An error where there is no example, or one has no reference.
Result<std::vector<NamedValue>> score_texts(std::span<const Example> examples);

}  // namespace hyfreedp::scores
