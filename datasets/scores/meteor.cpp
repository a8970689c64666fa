#include "datasets/scores/meteor.h"

#include <algorithm>
#include <map>

#include "datasets/scores/characters.h"
#include "datasets/scores/porter_stemmer.h"

namespace hyfreedp::scores {
namespace {

constexpr double kAlpha = 0.9;
constexpr double kGamma = 0.5;

struct Token {
  std::size_t place = 0;
  std::u32string word;
};
using Words = std::vector<Token>;

struct Match {
  std::size_t place = 0, in_reference = 0;
};

Words words_of(const Tokens& tokens) {
  Words words;
  for (const auto& token : tokens) words.push_back({words.size(), lower_case(characters_of(token))});
  return words;
}

// Takes what matches out of both.
void match(Words& text, Words& reference, std::vector<Match>& matches) {
  std::map<std::u32string, std::vector<std::size_t>> places;  // in `reference`
  for (std::size_t i = 0; i < reference.size(); ++i) places[reference[i].word].push_back(i);
  std::vector<bool> is_taken(reference.size(), false);
  Words left;
  for (std::size_t i = text.size(); i-- > 0;) {
    const auto found = places.find(text[i].word);
    if (found == places.end() || found->second.empty()) {
      left.push_back(std::move(text[i]));
      continue;
    }
    const auto other = found->second.back();
    found->second.pop_back();
    is_taken[other] = true;
    matches.push_back({text[i].place, reference[other].place});
  }
  std::ranges::reverse(left);
  text = std::move(left);
  Words unmatched;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (!is_taken[i]) unmatched.push_back(std::move(reference[i]));
  }
  reference = std::move(unmatched);
}

double score(const Tokens& tokens, const Tokens& reference_tokens) {
  auto text = words_of(tokens), reference = words_of(reference_tokens);
  std::vector<Match> matches;
  match(text, reference, matches);
  for (auto* words : {&text, &reference}) {
    for (auto& token : *words) token.word = porter_stem(token.word);
  }
  match(text, reference, matches);
  if (matches.empty()) return 0;
  std::ranges::sort(matches, {}, &Match::place);
  double chunks = 1;
  for (std::size_t i = 1; i < matches.size(); ++i) {
    const auto &before = matches[i - 1], &one = matches[i];
    if (one.place != before.place + 1 || one.in_reference != before.in_reference + 1) ++chunks;
  }
  const auto count = static_cast<double>(matches.size());
  const double precision = count / static_cast<double>(tokens.size());
  const double recall = count / static_cast<double>(reference_tokens.size());
  const double mean = precision * recall / (kAlpha * precision + (1 - kAlpha) * recall);
  const double broken = chunks / count;
  return (1 - kGamma * broken * broken * broken) * mean;
}

}  // namespace

double meteor_exact_and_stem(const TokenExample& example) {
  double best = 0;
  for (const auto& reference : example.references) best = std::max(best, score(example.text, reference));
  return best;
}

}  // namespace hyfreedp::scores
