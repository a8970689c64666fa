#include "datasets/text/words.h"

#include <algorithm>
#include <array>
#include <string>
#include <utf8proc.h>

namespace hyfreedp::datasets {
namespace {

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// The parts of the later patterns (Llama 3, Qwen 2) before and after their rule for numbers.
constexpr std::string_view kLaterBegin = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
constexpr std::string_view kLaterEnd = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kMetaspace = "\xe2\x96\x81";

enum class Kind { letter, number, space, other, end };

Kind kind_of_code(utf8proc_int32_t code) {
  if (code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85) return Kind::space;
  const auto category = utf8proc_category(code);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return Kind::letter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return Kind::number;
  return category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP ? Kind::space : Kind::other;
}

struct Character {
  Kind kind = Kind::end;
  std::size_t end = 0;  // where the next one begins
};

Character character_at(std::string_view text, std::size_t at) {
  static const auto ascii = [] {
    std::array<Kind, 128> kinds{};
    for (std::size_t code = 0; code < kinds.size(); ++code)
      kinds[code] = kind_of_code(static_cast<utf8proc_int32_t>(code));
    return kinds;
  }();
  if (at >= text.size()) return {Kind::end, at};
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < ascii.size()) return {ascii[byte], at + 1};
  utf8proc_int32_t code = 0;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (length <= 0) return {Kind::other, at + 1};
  return {kind_of_code(code), at + static_cast<std::size_t>(length)};
}

// The end of the run of at most `most` characters of one kind that begins at `at`.
std::size_t run_end(std::string_view text, std::size_t at, Kind kind, std::size_t most = SIZE_MAX) {
  for (std::size_t i = 0; i < most; ++i) {
    const auto next = character_at(text, at);
    if (next.kind != kind) break;
    at = next.end;
  }
  return at;
}

bool is_line_end(char c) { return c == '\r' || c == '\n'; }

// Length of 's, 't, 're, 've, 'm, 'll or 'd at `at`; 0: none. In any case that of ſ counts, which
// is a small form of S.
std::size_t contraction(std::string_view text, std::size_t at, bool any_case) {
  if (text[at] != '\'') return 0;
  const auto small = [&](char c) { return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    const auto found = text.substr(at, ending.size());
    if (std::ranges::equal(found, ending, {}, small)) return ending.size();
  }
  return any_case && text.substr(at + 1).starts_with("\xc5\xbf") ? 3 : 0;
}

// \s+(?!\S)|\s+ of white space at `at`: all of it but for the last character where a word follows,
// which may take that along.
std::size_t space_end(std::string_view text, std::size_t at) {
  auto last = at, end = character_at(text, at).end;
  for (auto next = character_at(text, end); next.kind == Kind::space; next = character_at(text, end)) {
    last = end;
    end = next.end;
  }
  return end == text.size() || last == at ? end : last;
}

std::size_t gpt2_end(std::string_view text, std::size_t at) {
  if (const auto length = contraction(text, at, false); length > 0) return at + length;
  auto first = character_at(text, at);
  if (text[at] == ' ') {
    const auto second = character_at(text, first.end);
    if (second.kind != Kind::end && second.kind != Kind::space) first = second;
  }
  return first.kind == Kind::space ? space_end(text, at) : run_end(text, first.end, first.kind);
}

std::size_t later_end(std::string_view text, std::size_t at, std::size_t digits) {
  if (const auto length = contraction(text, at, true); length > 0) return at + length;
  const auto first = character_at(text, at);
  if (first.kind == Kind::number) return run_end(text, at, Kind::number, digits);
  const auto second = character_at(text, first.end);
  if (first.kind == Kind::letter || (second.kind == Kind::letter && !is_line_end(text[at])))
    return run_end(text, first.end, Kind::letter);
  if (first.kind == Kind::other || (text[at] == ' ' && second.kind == Kind::other)) {
    auto end = run_end(text, first.end, Kind::other);
    while (end < text.size() && is_line_end(text[end])) ++end;
    return end;
  }
  const auto all = text.substr(at, run_end(text, at, Kind::space) - at);
  const auto line_end = all.find_last_of("\r\n");
  return line_end != std::string_view::npos ? at + line_end + 1 : space_end(text, at);
}

std::size_t digits_end(std::string_view text, std::size_t at, std::size_t digits) {
  auto next = character_at(text, at);
  if (next.kind == Kind::number) return run_end(text, at, Kind::number, digits);
  for (; next.kind != Kind::number && next.kind != Kind::end; next = character_at(text, at)) at = next.end;
  return at;
}

std::size_t word_end(std::string_view text, std::size_t at, Cut cut) {
  switch (cut) {
    case Cut::gpt2:
      return gpt2_end(text, at);
    case Cut::llama3:
      return later_end(text, at, 3);
    case Cut::qwen2:
      return later_end(text, at, 1);
    case Cut::digit:
      return digits_end(text, at, 1);
    case Cut::digits:
      return digits_end(text, at, SIZE_MAX);
    case Cut::metaspace:
      break;
  }
  return std::min(text.find(kMetaspace, at + 1), text.size());
}

}  // namespace

std::optional<Cut> cut_of_pattern(std::string_view pattern) {
  if (pattern == kGpt2) return Cut::gpt2;
  const auto later = [](std::string_view numbers) {
    return std::string(kLaterBegin).append(numbers).append(kLaterEnd);
  };
  if (pattern == later(R"(\p{N}{1,3})")) return Cut::llama3;
  if (pattern == later(R"(\p{N})")) return Cut::qwen2;
  return std::nullopt;
}

void for_words(std::string_view text, std::span<const Cut> cuts,
               const std::function<void(std::string_view word)>& found) {
  if (cuts.empty()) return found(text);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = word_end(text, at, cuts.front());
    for_words(text.substr(at, end - at), cuts.subspan(1), found);
    at = end;
  }
}

}  // namespace hyfreedp::datasets
