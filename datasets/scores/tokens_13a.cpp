#include "datasets/scores/tokens_13a.h"

#include <boost/algorithm/string/replace.hpp>

#include "datasets/scores/characters.h"

namespace hyfreedp::scores {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_point(char c) { return c == '.' || c == ','; }

// Punctuation that always is a token of its own: that of ASCII but for ' , - and .
bool is_mark(char c) {
  const auto within = [c](char first, char last) { return c >= first && c <= last; };
  return within('!', '&') || within('(', '+') || c == '/' || within(':', '@') || within('[', '`') ||
         within('{', '~');
}

}  // namespace

Tokens tokens_13a(std::string_view given) {
  std::string text(given);
  for (const auto& [what, with] : {std::pair{"<skipped>", ""},
                                   {"-\n", ""},
                                   {"\n", " "},
                                   {"&quot;", "\""},
                                   {"&amp;", "&"},
                                   {"&lt;", "<"},
                                   {"&gt;", ">"}})
    boost::algorithm::replace_all(text, what, with);
  std::string next = " ";
  for (const char c : text) {
    if (is_mark(c))
      next.append({' ', c, ' '});
    else
      next += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  next += ' ';
  // Each of the script's expressions reads what the one before it wrote, and goes on behind what it
  // has matched.
  text.clear();
  for (std::size_t at = 0; at < next.size(); ++at) {  // ([^0-9])([.,]) -> \1 \2_
    text += next[at];
    if (is_digit(next[at]) || at + 1 == next.size() || !is_point(next[at + 1])) continue;
    text.append({' ', next[++at], ' '});
  }
  next.clear();
  for (std::size_t at = 0; at < text.size(); ++at) {  // ([.,])([^0-9]) -> _\1 \2
    if (!is_point(text[at]) || at + 1 == text.size() || is_digit(text[at + 1])) {
      next += text[at];
      continue;
    }
    next.append({' ', text[at], ' ', text[at + 1]});
    ++at;
  }
  text.clear();
  for (std::size_t at = 0; at < next.size(); ++at) {  // ([0-9])(-) -> \1 \2_
    text += next[at];
    if (!is_digit(next[at]) || at + 1 == next.size() || next[at + 1] != '-') continue;
    text += " - ";
    ++at;
  }
  return split_at_space(text);
}

TokenExample tokens_13a(const Example& example) {
  TokenExample tokens{tokens_13a(example.text), {}};
  for (const auto& reference : example.references) tokens.references.push_back(tokens_13a(reference));
  return tokens;
}

}  // namespace hyfreedp::scores
