#include "datasets/text/word_pieces.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utf8proc.h>

#include "datasets/text/tokenizer_config.h"
#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::size_t kLongestWord = 100;  // characters
// Words that are remembered: of natural text nearly all, of random text no more than this.
constexpr std::size_t kMostWords = 1 << 18;

bool is_control(utf8proc_int32_t code, utf8proc_category_t category) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CO ||
         category == UTF8PROC_CATEGORY_CS;
}

bool is_space(utf8proc_int32_t code, utf8proc_category_t category) {
  return code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85 || category == UTF8PROC_CATEGORY_ZS ||
         category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool is_punctuation(utf8proc_int32_t code, utf8proc_category_t category) {
  if (code < 0x80) return code > ' ' && code != 0x7F && std::isalnum(static_cast<int>(code)) == 0;
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

// The blocks that BERT's authors took as Chinese.
bool is_chinese(utf8proc_int32_t code) {
  constexpr std::array<std::pair<utf8proc_int32_t, utf8proc_int32_t>, 8> kBlocks{{{0x4E00, 0x9FFF},
                                                                                  {0x3400, 0x4DBF},
                                                                                  {0x20000, 0x2A6DF},
                                                                                  {0x2A700, 0x2B73F},
                                                                                  {0x2B740, 0x2B81F},
                                                                                  {0x2B920, 0x2CEAF},
                                                                                  {0xF900, 0xFAFF},
                                                                                  {0x2F800, 0x2FA1F}}};
  return std::ranges::any_of(
      kBlocks, [code](const auto& block) { return block.first <= code && code <= block.second; });
}

void append(utf8proc_int32_t code, std::string& text) {
  if (code < 0x80) return text.push_back(static_cast<char>(code));
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto count = utf8proc_encode_char(code, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(count));
}

// The categories of ASCII characters, which most texts consist of. The table halves the time.
const std::array<utf8proc_category_t, 0x80>& ascii_categories() {
  static const auto table = [] {
    std::array<utf8proc_category_t, 0x80> categories{};
    for (std::size_t code = 0; code < categories.size(); ++code)
      categories[code] = utf8proc_category(static_cast<utf8proc_int32_t>(code));
    return categories;
  }();
  return table;
}

// Calls visit(code, category, bytes) for each character; bytes that are none are left out.
template <class Visit>
void for_characters(std::string_view text, const Visit& visit) {
  const auto& ascii = ascii_categories();
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (auto left = static_cast<utf8proc_ssize_t>(text.size()); left > 0;) {
    if (*at < ascii.size()) {
      visit(*at, ascii[*at], std::size_t{1});
      ++at;
      --left;
      continue;
    }
    utf8proc_int32_t code = 0;
    const auto count = utf8proc_iterate(at, left, &code);
    if (count > 0) visit(code, utf8proc_category(code), static_cast<std::size_t>(count));
    at += std::max<utf8proc_ssize_t>(1, count);
    left -= std::max<utf8proc_ssize_t>(1, count);
  }
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The text without accents: decomposed canonically, and nonspacing marks dropped.
std::string without_accents(const std::string& text) {
  std::vector<utf8proc_int32_t> codes(4 * text.size() + 4);
  const auto count = utf8proc_decompose(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), codes.data(),
                                        static_cast<utf8proc_ssize_t>(codes.size()),
                                        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE));
  std::string kept;
  for (utf8proc_ssize_t i = 0; i < count && i < static_cast<utf8proc_ssize_t>(codes.size()); ++i) {
    const auto code = codes[static_cast<std::size_t>(i)];
    if (utf8proc_category(code) != UTF8PROC_CATEGORY_MN) append(code, kept);
  }
  return kept;
}

std::string in_small_letters(const std::string& text) {
  std::string small;
  for_characters(text, [&](utf8proc_int32_t code, utf8proc_category_t /*category*/, std::size_t /*bytes*/) {
    const bool is_ascii_capital = code >= 'A' && code <= 'Z';
    append(is_ascii_capital ? code + ('a' - 'A') : code < 0x80 ? code : utf8proc_tolower(code), small);
  });
  return small;
}

}  // namespace

Result<WordPieces> WordPieces::load(const std::string& folder) {
  WordPieces pieces;
  if (auto read = pieces.read_vocabulary(folder + "/vocab.txt"); !read) return read.error();
  if (auto read = pieces.read_config(folder); !read) return read.error();
  return pieces;
}

Result<void> WordPieces::read_vocabulary(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  if (const auto wrong = first_byte_not_utf8(*text)) {
    return error(fmt::format("{}: byte {} is not UTF-8.", path, *wrong));
  }
  std::string_view left(*text);
  for (std::int64_t id = 0; !left.empty(); ++id) {
    const auto end = std::min(left.find('\n'), left.size());
    auto piece = left.substr(0, end);
    if (piece.ends_with('\r')) piece.remove_suffix(1);
    left.remove_prefix(std::min(end + 1, left.size()));
    longest_ = std::max(longest_, piece.size());
    if (!ids_.emplace(piece, id).second)
      return error(fmt::format("{}:{}: '{}' is there twice.", path, id + 1, as_one_line(piece)));
  }
  std::int64_t first = 0, separator = 0;
  for (const auto& [name, id] : {std::pair{"[PAD]", &marks_.padding}, std::pair{"[UNK]", &unknown_},
                                 std::pair{"[CLS]", &first}, std::pair{"[SEP]", &separator}}) {
    const auto found = ids_.find(name);
    if (found == ids_.end())
      return error(fmt::format("{}: has no '{}', so it is no vocabulary of BERT's.", path, name));
    *id = found->second;
  }
  marks_.before = {first};
  marks_.between = marks_.after = {separator};
  return {};
}

Result<void> WordPieces::read_config(const std::string& folder) {
  const auto read = tokenizer_config(folder, "BertTokenizer");
  if (!read) return read.error();
  const auto& config = *read;
  lower_case_ = bool_or(config, "do_lower_case", true);
  // Null: as the letters.
  strip_accents_ = bool_or(config, "strip_accents", lower_case_);
  chinese_ = bool_or(config, "tokenize_chinese_chars", true);
  return {};
}

std::string WordPieces::normalised(std::string_view text) const {
  std::string clean;
  clean.reserve(text.size());
  for_characters(text, [&](utf8proc_int32_t code, utf8proc_category_t category, std::size_t /*bytes*/) {
    if (code == 0 || code == 0xFFFD || is_control(code, category)) return;
    if (is_space(code, category)) {
      clean += ' ';
    } else if (chinese_ && is_chinese(code)) {
      clean += ' ';
      append(code, clean);
      clean += ' ';
    } else {
      append(code, clean);
    }
  });
  if (strip_accents_ && !is_ascii(clean)) clean = without_accents(clean);
  return lower_case_ ? in_small_letters(clean) : clean;
}

std::vector<std::int64_t> WordPieces::encode(std::string_view text) {
  std::vector<std::int64_t> found;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) add_word(word, found);
    word.clear();
  };
  const auto clean = normalised(text);
  std::string_view left(clean);
  for_characters(clean, [&](utf8proc_int32_t code, utf8proc_category_t category, std::size_t bytes) {
    const auto character = left.substr(0, bytes);
    left.remove_prefix(bytes);
    if (is_space(code, category)) return end_word();
    const bool alone = is_punctuation(code, category);
    if (alone) end_word();
    word += character;
    if (alone) end_word();
  });
  end_word();
  return found;
}

void WordPieces::add_word(const std::string& word, std::vector<std::int64_t>& to) {
  auto known = known_words_.find(word);
  if (known == known_words_.end()) {
    if (known_words_.size() >= kMostWords) known_words_.clear();
    known = known_words_.emplace(word, pieces_of(word)).first;
  }
  to.insert(to.end(), known->second.begin(), known->second.end());
}

std::vector<std::int64_t> WordPieces::pieces_of(const std::string& word) const {
  std::vector<std::size_t> ends;  // of its characters
  for_characters(word, [&](utf8proc_int32_t /*code*/, utf8proc_category_t /*category*/, std::size_t bytes) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + bytes);
  });
  if (ends.size() > kLongestWord) return {unknown_};
  std::vector<std::int64_t> pieces;
  std::size_t begin = 0;  // in bytes
  while (begin < word.size()) {
    const std::string start = begin == 0 ? "" : "##";
    auto end = ends.rbegin();
    auto found = ids_.end();
    for (; end != ends.rend() && *end > begin && found == ids_.end(); ++end) {
      if (start.size() + *end - begin > longest_) continue;
      found = ids_.find(start + word.substr(begin, *end - begin));
      if (found != ids_.end()) break;
    }
    if (found == ids_.end()) return {unknown_};
    pieces.push_back(found->second);
    begin = *end;
  }
  return pieces;
}

}  // namespace hyfreedp::datasets
