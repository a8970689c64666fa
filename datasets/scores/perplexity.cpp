#include "datasets/scores/perplexity.h"

#include <cmath>
#include <limits>

namespace hyfreedp::scores {

double token_perplexity(std::span<const std::vector<double>> losses) {
  double sum = 0, tokens = 0;
  for (const auto& text : losses) {
    for (const double loss : text) sum += loss;
    tokens += static_cast<double>(text.size());
  }
  return tokens == 0 ? std::numeric_limits<double>::infinity() : std::exp(sum / tokens);
}

}  // namespace hyfreedp::scores
