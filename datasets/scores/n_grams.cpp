#include "datasets/scores/n_grams.h"

#include <algorithm>

namespace hyfreedp::scores {

Counts n_grams(const Tokens& tokens, std::size_t length) {
  Counts counts;
  for (std::size_t first = 0; first + length <= tokens.size(); ++first) {
    auto run = tokens[first];
    for (std::size_t i = 1; i < length; ++i) run.append(" ").append(tokens[first + i]);
    ++counts[std::move(run)];
  }
  return counts;
}

Counts most_n_grams(std::span<const Tokens> texts, std::size_t length) {
  Counts most;
  for (const auto& text : texts) {
    for (const auto& [run, count] : n_grams(text, length)) {
      auto& found = most[run];
      found = std::max(found, count);
    }
  }
  return most;
}

std::int64_t total(const Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [run, count] : counts) sum += count;
  return sum;
}

std::int64_t count_of(const Counts& counts, const std::string& run) {
  const auto found = counts.find(run);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace hyfreedp::scores
