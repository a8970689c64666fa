// Escapes for latex_writer.h.
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <string_view>

#include "results/table/latex_writer.h"

namespace hyfreedp::results {
namespace {

const std::map<char, const char*>& special() {
  static const std::map<char, const char*> kSpecial = {
      {'&', "\\&"},
      {'%', "\\%"},
      {'$', "\\$"},
      {'#', "\\#"},
      {'_', "\\_"},
      {'{', "\\{"},
      {'}', "\\}"},
      {'~', "\\textasciitilde{}"},
      {'^', "\\textasciicircum{}"},
      {'<', "\\textless{}"},
      {'>', "\\textgreater{}"},
      {'|', "\\textbar{}"},
      {'"', "{\\ttfamily\\char34}"},
      {'\\', "\\textbackslash{}"},
      {'\n', " "},
      {'\r', " "},
      {'\t', " "},
  };
  return kSpecial;
}

// The characters that tables and specs use beyond ASCII and accented letters.
const std::map<char32_t, const char*>& symbols() {
  static const std::map<char32_t, const char*> kSymbols = {
      {U'α', "$\\alpha$"},
      {U'β', "$\\beta$"},
      {U'γ', "$\\gamma$"},
      {U'δ', "$\\delta$"},
      {U'ε', "$\\varepsilon$"},
      {U'ζ', "$\\zeta$"},
      {U'η', "$\\eta$"},
      {U'θ', "$\\theta$"},
      {U'κ', "$\\kappa$"},
      {U'λ', "$\\lambda$"},
      {U'μ', "$\\mu$"},
      {U'ν', "$\\nu$"},
      {U'ξ', "$\\xi$"},
      {U'π', "$\\pi$"},
      {U'ρ', "$\\rho$"},
      {U'σ', "$\\sigma$"},
      {U'τ', "$\\tau$"},
      {U'φ', "$\\varphi$"},
      {U'χ', "$\\chi$"},
      {U'ψ', "$\\psi$"},
      {U'ω', "$\\omega$"},
      {U'Γ', "$\\Gamma$"},
      {U'Δ', "$\\Delta$"},
      {U'Λ', "$\\Lambda$"},
      {U'Π', "$\\Pi$"},
      {U'Σ', "$\\Sigma$"},
      {U'Φ', "$\\Phi$"},
      {U'Ω', "$\\Omega$"},
      {U'±', "$\\pm$"},
      {U'×', "$\\times$"},
      {U'·', "$\\cdot$"},
      {U'÷', "$\\div$"},
      {U'−', "$-$"},
      {U'≤', "$\\le$"},
      {U'≥', "$\\ge$"},
      {U'≠', "$\\neq$"},
      {U'≈', "$\\approx$"},
      {U'∞', "$\\infty$"},
      {U'√', "$\\surd$"},
      {U'∑', "$\\sum$"},
      {U'∈', "$\\in$"},
      {U'→', "$\\to$"},
      {U'←', "$\\gets$"},
      {U'∝', "$\\propto$"},
      {U'∂', "$\\partial$"},
      {U'¹', "$^1$"},
      {U'²', "$^2$"},
      {U'³', "$^3$"},
      {U'⁻', "$^-$"},
      {U'⁺', "$^+$"},
      {U'⁴', "$^4$"},
      {U'⁵', "$^5$"},
      {U'⁶', "$^6$"},
      {U'⁸', "$^8$"},
      {U'₀', "$_0$"},
      {U'₁', "$_1$"},
      {U'₂', "$_2$"},
      {U'₃', "$_3$"},
      {U'–', "--"},
      {U'—', "---"},
      {U'‘', "`"},
      {U'’', "'"},
      {U'“', "``"},
      {U'”', "''"},
      {U'…', "\\dots{}"},
      {U'\u00A0', "~"},
      {U'\u2009', "\\,"},
      {U'\u202F', "\\,"},
      {U'°', "$^\\circ$"},
      {U'✓', "$\\surd$"},
      {U'‖', "$\\|$"},
      {U'½', "$\\frac12$"},
      {U'µ', "$\\mu$"},
      {U'†', "\\dag{}"},
      {U'‡', "\\ddag{}"},
      {U'§', "\\S{}"},
  };
  return kSymbols;
}

// Latin letters with accents, which inputenc knows.
bool is_accented_letter(char32_t point) {
  return point >= 0xC0 && point <= 0xFF && point != 0xD0 && point != 0xD7 && point != 0xDE && point != 0xF0 &&
         point != 0xF7 && point != 0xFE;
}

// The code point at `at`, and how many bytes it takes; a stray byte is U+FFFD of one byte.
std::pair<char32_t, std::size_t> code_point(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const std::size_t length = byte < 0x80       ? 1
                             : byte >> 5 == 6  ? 2
                             : byte >> 4 == 14 ? 3
                             : byte >> 3 == 30 ? 4
                                               : 0;
  if (length == 0 || at + length > text.size()) return {0xFFFD, 1};
  char32_t point = length == 1 ? byte : byte & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xC0) != 0x80) return {0xFFFD, 1};
    point = (point << 6) | (next & 0x3F);
  }
  return {point, length};
}

}  // namespace

std::string latex_escaped(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto [point, length] = code_point(text, at);
    if (point < 0x80) {
      const auto found = special().find(text[at]);
      if (found != special().end()) {
        out += found->second;
      } else if (point >= 0x20 && point != 0x7F) {
        out += text[at];
      } else {
        out += fmt::format("[U+{:04X}]", static_cast<std::uint32_t>(point));
      }
    } else if (const auto found = symbols().find(point); found != symbols().end()) {
      out += found->second;
    } else if (is_accented_letter(point)) {
      out += text.substr(at, length);
    } else {
      out += fmt::format("[U+{:04X}]", static_cast<std::uint32_t>(point));
    }
    at += length;
  }
  return out;
}

}  // namespace hyfreedp::results
