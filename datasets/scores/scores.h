// The scores of written texts against references, as a list: names, definitions, values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datasets/scores/examples.h"
#include "harness/base/result.h"

namespace hyfreedp::scores {

struct TextScore {
  // What outputs and columns call it. It says whose definition it is, and of which tokens.
  const char* name;
  // Whose definition in which version, and what number it is not.
  const char* definition;
  double (*compute)(std::span<const Example> examples, std::span<const TokenExample> tokens);
};

// In the order in which they are shown. The higher, the better.
std::span<const TextScore> text_scores();

struct NamedValue {
  std::string name;
  double value = 0;
};

// All of them. An error where there is no example, or one has no reference.
Result<std::vector<NamedValue>> score_texts(std::span<const Example> examples);

}  // namespace hyfreedp::scores
