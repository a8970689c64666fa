#include "datasets/scores/bleu.h"

#include <algorithm>
#include <cmath>

#include "datasets/scores/n_grams.h"

namespace hyfreedp::scores {
namespace {

constexpr std::size_t kLongest = 4;

std::size_t nearest_length(const TokenExample& example) {
  const auto distance = [&](const Tokens& reference) {
    const auto length = reference.size(), own = example.text.size();
    return std::pair(std::max(length, own) - std::min(length, own), length);
  };
  return std::ranges::min_element(example.references, {}, distance)->size();
}

}  // namespace

double bleu_mteval13a(std::span<const TokenExample> examples) {
  double tokens = 0, nearest = 0;
  for (const auto& example : examples) {
    tokens += static_cast<double>(example.text.size());
    nearest += static_cast<double>(nearest_length(example));
  }
  if (tokens == 0) return 0;
  double logarithms = 0, in_place_of_none = 1;
  for (std::size_t length = 1; length <= kLongest; ++length) {
    double found = 0, all = 0;
    for (const auto& example : examples) {
      const auto most = most_n_grams(example.references, length);
      for (const auto& [run, count] : n_grams(example.text, length)) {
        all += static_cast<double>(count);
        found += static_cast<double>(std::min(count, count_of(most, run)));
      }
    }
    if (all == 0) continue;
    if (found == 0) found = in_place_of_none /= 2;
    logarithms += std::log(found / all);
  }
  return std::exp(logarithms / kLongest + std::min(0.0, 1 - nearest / tokens));
}

}  // namespace hyfreedp::scores
