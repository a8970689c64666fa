#include "datasets/scores/nist.h"

#include <algorithm>
#include <cmath>

#include "datasets/scores/n_grams.h"

namespace hyfreedp::scores {
namespace {

constexpr std::size_t kLongest = 5;

struct References {
  double tokens = 0;
  double texts = 0;
  Counts runs;  // of all lengths
};

References references_of(std::span<const TokenExample> examples) {
  References all;
  for (const auto& example : examples) {
    for (const auto& reference : example.references) {
      all.tokens += static_cast<double>(reference.size());
      ++all.texts;
      for (std::size_t length = 1; length <= kLongest; ++length) {
        for (const auto& [run, count] : n_grams(reference, length)) all.runs[run] += count;
      }
    }
  }
  return all;
}

double information(const References& references, const std::string& run) {
  const auto last = run.rfind(' ');
  const double before = last == std::string::npos
                            ? references.tokens
                            : static_cast<double>(count_of(references.runs, run.substr(0, last)));
  return std::log2(before / static_cast<double>(count_of(references.runs, run)));
}

}  // namespace

double nist_mteval13a(std::span<const TokenExample> examples) {
  const auto references = references_of(examples);
  double tokens = 0;
  for (const auto& example : examples) tokens += static_cast<double>(example.text.size());
  if (tokens == 0 || references.tokens == 0) return 0;
  double score = 0;
  for (std::size_t length = 1; length <= kLongest; ++length) {
    double found = 0, all = 0;
    for (const auto& example : examples) {
      const auto most = most_n_grams(example.references, length);
      for (const auto& [run, count] : n_grams(example.text, length)) {
        all += static_cast<double>(count);
        const auto shared = std::min(count, count_of(most, run));
        if (shared > 0) found += static_cast<double>(shared) * information(references, run);
      }
    }
    if (all > 0) score += found / all;
  }
  const double length = references.tokens * static_cast<double>(examples.size()) / references.texts;
  const double shortness = std::log(std::min(1.0, tokens / length)) / std::log(1.5);
  return score * std::exp(std::log(0.5) * shortness * shortness);
}

}  // namespace hyfreedp::scores
