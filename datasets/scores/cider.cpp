#include "datasets/scores/cider.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "datasets/scores/n_grams.h"

namespace hyfreedp::scores {
namespace {

constexpr std::size_t kLongest = 4;
constexpr double kSigma = 6;

using Weights = std::map<std::string, double>;

struct Weighted {
  std::array<Weights, kLongest> weights;
  std::array<double, kLongest> norms{};
  double pairs = 0;
};

// In how many examples a reference has a run, of all lengths.
Counts documents_of(std::span<const TokenExample> examples) {
  Counts documents;
  for (const auto& example : examples) {
    for (std::size_t length = 1; length <= kLongest; ++length) {
      for (const auto& [run, count] : most_n_grams(example.references, length)) ++documents[run];
    }
  }
  return documents;
}

Weighted weighted(const Tokens& tokens, const Counts& documents, double examples) {
  Weighted found;
  for (std::size_t i = 0; i < kLongest; ++i) {
    const auto counts = n_grams(tokens, i + 1);
    double squares = 0;
    for (const auto& [run, count] : counts) {
      const double rarity =
          std::log(examples) - std::log(std::max(1.0, static_cast<double>(count_of(documents, run))));
      const double weight = static_cast<double>(count) * rarity;
      found.weights[i][run] = weight;
      squares += weight * weight;
    }
    found.norms[i] = std::sqrt(squares);
    if (i == 1) found.pairs = static_cast<double>(total(counts));
  }
  return found;
}

double similarity(const Weighted& text, const Weighted& reference) {
  const double apart = text.pairs - reference.pairs;
  double sum = 0;
  for (std::size_t i = 0; i < kLongest; ++i) {
    double product = 0;
    for (const auto& [run, weight] : text.weights[i]) {
      const auto other = reference.weights[i].find(run);
      if (other != reference.weights[i].end()) product += std::min(weight, other->second) * other->second;
    }
    const double norms = text.norms[i] * reference.norms[i];
    if (norms != 0) sum += product / norms;
  }
  return sum / kLongest * std::exp(-apart * apart / (2 * kSigma * kSigma));
}

}  // namespace

std::vector<double> cider_coco(std::span<const TokenExample> examples) {
  const auto documents = documents_of(examples);
  const auto count = static_cast<double>(examples.size());
  std::vector<double> scores;
  for (const auto& example : examples) {
    const auto text = weighted(example.text, documents, count);
    double sum = 0;
    for (const auto& reference : example.references)
      sum += similarity(text, weighted(reference, documents, count));
    scores.push_back(10 * sum / static_cast<double>(example.references.size()));
  }
  return scores;
}

}  // namespace hyfreedp::scores
