#include "datasets/scores/porter_stemmer.h"

#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace hyfreedp::scores {
namespace {

using Word = std::u32string;
using Part = std::u32string_view;

bool is_vowel_letter(char32_t c) { return Part(U"aeiou").find(c) != Part::npos; }

// For each letter, true if it is a consonant: y is one at the beginning and after a vowel.
std::vector<bool> consonants(Part word) {
  std::vector<bool> found;
  for (const auto c : word) found.push_back(c == U'y' ? found.empty() || !found.back() : !is_vowel_letter(c));
  return found;
}

// The number of times that a consonant follows a vowel: m of Porter's paper.
int measure(Part stem) {
  const auto flags = consonants(stem);
  int count = 0;
  for (std::size_t i = 1; i < flags.size(); ++i) count += !flags[i - 1] && flags[i] ? 1 : 0;
  return count;
}

bool has_vowel(Part stem) {
  for (const bool consonant : consonants(stem)) {
    if (!consonant) return true;
  }
  return false;
}

bool ends_in_consonant(Part word) { return !word.empty() && consonants(word).back(); }

bool ends_in_double_consonant(Part word) {
  return word.size() >= 2 && word.back() == word[word.size() - 2] && ends_in_consonant(word);
}

// Consonant, vowel and a consonant other than w, x and y; or no more than vowel and consonant.
bool ends_short(Part word) {
  const auto flags = consonants(word);
  const auto size = flags.size();
  if (size == 2) return !flags[0] && flags[1];
  return size >= 3 && flags[size - 3] && !flags[size - 2] && flags[size - 1] &&
         Part(U"wxy").find(word.back()) == Part::npos;
}

struct Rule {
  Part suffix, replacement;
};

// The first rule whose suffix the word has is used where `condition` holds of what is before it.
Word changed(const Word& word, std::span<const Rule> rules, const std::function<bool(Part stem)>& condition) {
  for (const auto& [suffix, replacement] : rules) {
    if (!word.ends_with(suffix)) continue;
    const auto stem = word.substr(0, word.size() - suffix.size());
    return condition(stem) ? stem + Word(replacement) : word;
  }
  return word;
}

bool always(Part /*stem*/) { return true; }

bool is_measured(Part stem) { return measure(stem) > 0; }

Word without_plural(const Word& word) {
  if (word.size() == 4 && word.ends_with(U"ies")) return word.substr(0, 3);
  static constexpr Rule kRules[] = {{U"sses", U"ss"}, {U"ies", U"i"}, {U"ss", U"ss"}, {U"s", U""}};
  return changed(word, kRules, always);
}

// Completes a stem from which -ed or -ing was taken.
Word completed(const Word& stem) {
  for (const Part suffix : {U"at", U"bl", U"iz"}) {
    if (stem.ends_with(suffix)) return stem + U'e';
  }
  if (ends_in_double_consonant(stem)) {
    const bool stays = Part(U"lsz").find(stem.back()) != Part::npos;
    return stays ? stem : stem.substr(0, stem.size() - 1);
  }
  return measure(stem) == 1 && ends_short(stem) ? stem + U'e' : stem;
}

Word without_ed_or_ing(const Word& word) {
  if (word.ends_with(U"ied")) return word.substr(0, word.size() - (word.size() == 4 ? 1 : 2));
  if (word.ends_with(U"eed"))
    return is_measured(Part(word).substr(0, word.size() - 3)) ? word.substr(0, word.size() - 1) : word;
  for (const Part suffix : {U"ed", U"ing"}) {
    if (!word.ends_with(suffix)) continue;
    const auto stem = word.substr(0, word.size() - suffix.size());
    return has_vowel(stem) ? completed(stem) : word;
  }
  return word;
}

Word with_i_for_y(const Word& word) {
  static constexpr Rule kRules[] = {{U"y", U"i"}};
  return changed(word, kRules, [](Part stem) { return stem.size() > 1 && ends_in_consonant(stem); });
}

Word without_double_suffix(const Word& word) {
  if (word.ends_with(U"alli") && is_measured(Part(word).substr(0, word.size() - 4)))
    return without_double_suffix(word.substr(0, word.size() - 2));
  static constexpr Rule kRules[] = {
      {U"ational", U"ate"}, {U"tional", U"tion"}, {U"enci", U"ence"},   {U"anci", U"ance"},
      {U"izer", U"ize"},    {U"bli", U"ble"},     {U"entli", U"ent"},   {U"eli", U"e"},
      {U"ousli", U"ous"},   {U"ization", U"ize"}, {U"ation", U"ate"},   {U"ator", U"ate"},
      {U"alism", U"al"},    {U"iveness", U"ive"}, {U"fulness", U"ful"}, {U"ousness", U"ous"},
      {U"aliti", U"al"},    {U"iviti", U"ive"},   {U"biliti", U"ble"},  {U"fulli", U"ful"}};
  // The l of -logi counts to what is before it.
  if (word.ends_with(U"logi"))
    return is_measured(Part(word).substr(0, word.size() - 3)) ? word.substr(0, word.size() - 1) : word;
  return changed(word, kRules, is_measured);
}

Word without_ending(const Word& word) {
  static constexpr Rule kRules[] = {{U"icate", U"ic"}, {U"ative", U""}, {U"alize", U"al"}, {U"iciti", U"ic"},
                                    {U"ical", U"ic"},  {U"ful", U""},   {U"ness", U""}};
  return changed(word, kRules, is_measured);
}

Word without_suffix(const Word& word) {
  static constexpr Rule kRules[] = {{U"al", U""},    {U"ance", U""}, {U"ence", U""}, {U"er", U""},
                                    {U"ic", U""},    {U"able", U""}, {U"ible", U""}, {U"ant", U""},
                                    {U"ement", U""}, {U"ment", U""}, {U"ent", U""},  {U"ion", U""},
                                    {U"ou", U""},    {U"ism", U""},  {U"ate", U""},  {U"iti", U""},
                                    {U"ous", U""},   {U"ive", U""},  {U"ize", U""}};
  const bool is_ion = word.ends_with(U"ion");
  return changed(word, kRules, [&](Part stem) {
    return measure(stem) > 1 && (!is_ion || stem.back() == U's' || stem.back() == U't');
  });
}

Word tidied(Word word) {
  if (word.ends_with(U'e')) {
    const auto stem = Part(word).substr(0, word.size() - 1);
    if (measure(stem) > 1 || (measure(stem) == 1 && !ends_short(stem))) word.pop_back();
  }
  if (word.ends_with(U"ll") && measure(Part(word).substr(0, word.size() - 1)) > 1) word.pop_back();
  return word;
}

}  // namespace

Word porter_stem(const Word& word) {
  static const std::map<Part, Part> irregular = {
      {U"sky", U"sky"},        {U"skies", U"sky"},       {U"dying", U"die"},        {U"lying", U"lie"},
      {U"tying", U"tie"},      {U"news", U"news"},       {U"innings", U"inning"},   {U"inning", U"inning"},
      {U"outings", U"outing"}, {U"outing", U"outing"},   {U"cannings", U"canning"}, {U"canning", U"canning"},
      {U"howe", U"howe"},      {U"proceed", U"proceed"}, {U"exceed", U"exceed"},    {U"succeed", U"succeed"}};
  if (const auto found = irregular.find(word); found != irregular.end()) return Word(found->second);
  if (word.size() <= 2) return word;
  auto stem = with_i_for_y(without_ed_or_ing(without_plural(word)));
  return tidied(without_suffix(without_ending(without_double_suffix(stem))));
}

}  // namespace hyfreedp::scores
