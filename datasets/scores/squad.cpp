#include "datasets/scores/squad.h"

#include <algorithm>

#include "datasets/scores/characters.h"
#include "datasets/scores/n_grams.h"

namespace hyfreedp::scores {
namespace {

bool is_punctuation(char32_t c) { return c == U'_' || (c > U' ' && c < 0x7f && !is_of_word(c)); }

Tokens words_of(std::string_view answer) {
  auto characters = lower_case(characters_of(answer));
  std::erase_if(characters, is_punctuation);
  // Articles are runs of word characters, not parts between blanks: "the–end" has one.
  std::u32string kept;
  for (std::size_t at = 0; at < characters.size();) {
    auto end = at;
    while (end < characters.size() && is_of_word(characters[end])) ++end;
    if (end == at) {
      kept += characters[at++];
      continue;
    }
    const auto word = std::u32string_view(characters).substr(at, end - at);
    const bool is_article = word == U"a" || word == U"an" || word == U"the";
    kept += is_article ? std::u32string_view(U" ") : word;
    at = end;
  }
  return split_at_space(text_of(kept));
}

}  // namespace

double squad_exact_match(const Example& example) {
  const auto words = words_of(example.text);
  const auto is_same = [&](const std::string& reference) { return words_of(reference) == words; };
  return std::ranges::any_of(example.references, is_same) ? 1 : 0;
}

double squad_f1(const Example& example) {
  const auto words = words_of(example.text);
  const auto counts = n_grams(words, 1);
  double best = 0;
  for (const auto& reference : example.references) {
    const auto others = words_of(reference);
    std::int64_t common = 0;
    for (const auto& [word, count] : n_grams(others, 1)) common += std::min(count, count_of(counts, word));
    if (common == 0) continue;
    const double precision = static_cast<double>(common) / static_cast<double>(words.size());
    const double recall = static_cast<double>(common) / static_cast<double>(others.size());
    best = std::max(best, 2 * precision * recall / (precision + recall));
  }
  return best;
}

}  // namespace hyfreedp::scores
