#include "datasets/scores/rouge_l.h"

#include <algorithm>

namespace hyfreedp::scores {
namespace {

constexpr double kBeta = 1.2;

double common_subsequence(const Tokens& one, const Tokens& other) {
  std::vector<std::size_t> row(other.size() + 1, 0);  // of the tokens of `one` so far
  for (const auto& token : one) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const auto above = row[j + 1];
      row[j + 1] = token == other[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return static_cast<double>(row.back());
}

}  // namespace

double rouge_l_coco(const TokenExample& example) {
  const auto or_empty = [](const Tokens& tokens) { return tokens.empty() ? Tokens{""} : tokens; };
  const auto text = or_empty(example.text);
  double precision = 0, recall = 0;
  for (const auto& one : example.references) {
    const auto reference = or_empty(one);
    const double common = common_subsequence(text, reference);
    precision = std::max(precision, common / static_cast<double>(text.size()));
    recall = std::max(recall, common / static_cast<double>(reference.size()));
  }
  if (precision == 0 || recall == 0) return 0;
  return (1 + kBeta * kBeta) * precision * recall / (recall + kBeta * kBeta * precision);
}

}  // namespace hyfreedp::scores
