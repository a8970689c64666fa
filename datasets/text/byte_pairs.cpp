#include "datasets/text/byte_pairs.h"

#include <algorithm>
#include <array>
#include <boost/locale/utf.hpp>
#include <boost/spirit/home/support/char_encoding/unicode/query.hpp>
#include <fmt/format.h>
#include <sstream>

#include "harness/base/files.h"
#include "harness/base/json.h"

namespace hyfreedp::datasets {
namespace {

namespace ucd = boost::spirit::ucd;
using Utf8 = boost::locale::utf::utf_traits<char>;

enum class Kind { letter, number, space, other, end };

struct Character {
  Kind kind = Kind::end;
  std::size_t begin = 0;
};

Kind kind_of(std::uint32_t code) {
  if (ucd::is_white_space(code)) return Kind::space;
  const auto category = ucd::get_major_category(code);
  if (category == ucd::properties::letter) return Kind::letter;
  return category == ucd::properties::number ? Kind::number : Kind::other;
}

// A byte that begins no character is a character of its own.
std::vector<Character> characters(const std::string& text) {
  std::vector<Character> found;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  for (const char* at = begin; at < end;) {
    const char* next = at;
    const auto code = Utf8::decode(next, end);
    const bool valid = boost::locale::utf::is_valid_codepoint(code);
    found.push_back({valid ? kind_of(code) : Kind::other, static_cast<std::size_t>(at - begin)});
    at = valid ? next : at + 1;
  }
  found.push_back({Kind::end, text.size()});
  return found;
}

// Length of 's, 't, 're, 've, 'm, 'll or 'd at `at`; 0: none.
std::size_t contraction(const std::string& text, std::size_t at) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.compare(at, ending.size(), ending) == 0) return ending.size();
  }
  return 0;
}

// Index after the run of one kind that begins at `at`.
std::size_t run_end(const std::vector<Character>& all, std::size_t at) {
  const auto kind = all[at].kind;
  while (all[at].kind == kind) ++at;
  return at;
}

// Index of the character after the word that begins at `at`.
std::size_t word_end(const std::string& text, const std::vector<Character>& all, std::size_t at) {
  if (const auto length = contraction(text, all[at].begin); length > 0) return at + length;
  const bool blank = text[all[at].begin] == ' ';
  const auto first = blank && all[at + 1].kind != Kind::end && all[at + 1].kind != Kind::space ? at + 1 : at;
  if (all[first].kind != Kind::space) return run_end(all, first);
  // White space, but for its last character where a word follows, which takes it along if it is a
  // blank.
  const auto end = run_end(all, at);
  return all[end].kind == Kind::end || end == at + 1 ? end : end - 1;
}

// The printable characters that stand for bytes in GPT-2's files: bytes that print stand for
// themselves, the others for the characters from U+0100 on, in order.
const std::array<std::uint32_t, 256>& stand_ins() {
  static const auto table = [] {
    std::array<std::uint32_t, 256> codes{};
    std::uint32_t next = 256;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const bool prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      codes[byte] = prints ? byte : next++;
    }
    return codes;
  }();
  return table;
}

// Bytes of a symbol as the files write it.
Result<std::string> bytes_of(const std::string& written, const std::string& where) {
  static const auto bytes = [] {
    std::unordered_map<std::uint32_t, char> table;
    for (std::size_t byte = 0; byte < 256; ++byte) table[stand_ins()[byte]] = static_cast<char>(byte);
    return table;
  }();
  std::string result;
  const char* at = written.data();
  const char* const end = at + written.size();
  while (at < end) {
    const auto found = bytes.find(Utf8::decode(at, end));
    if (found == bytes.end())
      return error(fmt::format("{}: '{}' is not a symbol of byte-pair encoding.", where, written));
    result.push_back(found->second);
  }
  return result;
}

}  // namespace

std::vector<std::string> gpt2_words(const std::string& text) {
  const auto all = characters(text);
  std::vector<std::string> words;
  for (std::size_t at = 0; all[at].kind != Kind::end;) {
    const auto end = word_end(text, all, at);
    words.push_back(text.substr(all[at].begin, all[end].begin - all[at].begin));
    at = end;
  }
  return words;
}

std::optional<std::int64_t> BytePairs::mark(const std::string& name) const {
  const auto found = marks_.find(name);
  return found == marks_.end() ? std::nullopt : std::optional(found->second);
}

Result<BytePairs> BytePairs::load(const std::string& encoder_path, const std::string& merges_path,
                                  const std::vector<std::string>& marks) {
  BytePairs pairs;
  if (auto read = pairs.read_encoder(encoder_path, marks); !read) return read.error();
  if (auto read = pairs.read_merges(merges_path); !read) return read.error();
  return pairs;
}

Result<void> BytePairs::read_encoder(const std::string& path, const std::vector<std::string>& marks) {
  const auto json = read_json_file(path);
  if (!json) return json.error();
  if (!json->is_object()) return error(path + ": must be an object of symbols and their ids.");
  const auto& table = json->get_object();
  symbols_.resize(table.size());
  std::vector<bool> seen(table.size());
  for (const auto& item : table) {
    const std::string written(item.key());
    const auto id = item.value().is_int64() ? item.value().get_int64() : -1;
    if (id < 0 || id >= vocabulary() || seen[static_cast<std::size_t>(id)]) {
      return error(fmt::format("{}: the ids of {} symbols must be 0 to {}, each once.", path, table.size(),
                               table.size() - 1));
    }
    seen[static_cast<std::size_t>(id)] = true;
    if (std::ranges::find(marks, written) != marks.end()) {
      marks_[written] = id;
      symbols_[static_cast<std::size_t>(id)] = written;
      continue;
    }
    const auto bytes = bytes_of(written, path);
    if (!bytes) return bytes.error();
    ids_[*bytes] = id;
    symbols_[static_cast<std::size_t>(id)] = *bytes;
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (!ids_.contains(std::string(1, static_cast<char>(byte))))
      return error(fmt::format("{}: byte {} has no symbol.", path, byte));
  }
  return {};
}

Result<void> BytePairs::read_merges(const std::string& path) {
  const auto content = read_file(path);
  if (!content) return content.error();
  std::istringstream lines(*content);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("#version")) continue;
    const auto gap = line.find(' ');
    if (gap == std::string::npos) return error(fmt::format("{}: '{}' is not a pair of symbols.", path, line));
    const auto left = bytes_of(line.substr(0, gap), path);
    const auto right = bytes_of(line.substr(gap + 1), path);
    if (!left) return left.error();
    if (!right) return right.error();
    if (!ids_.contains(*left + *right))
      return error(fmt::format("{}: the symbol that '{}' joins to has no id.", path, line));
    ranks_.emplace(std::pair(*left, *right), ranks_.size());
  }
  return {};
}

std::vector<std::int64_t> BytePairs::encode_word(const std::string& word) const {
  std::vector<std::string> parts;
  for (const char byte : word) parts.emplace_back(1, byte);
  for (;;) {
    auto best = ranks_.end();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ranks_.find({parts[i], parts[i + 1]});
      if (found != ranks_.end() && (best == ranks_.end() || found->second < best->second)) best = found;
    }
    if (best == ranks_.end()) break;
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool pair =
          i + 1 < parts.size() && parts[i] == best->first.first && parts[i + 1] == best->first.second;
      joined.push_back(pair ? parts[i] + parts[i + 1] : parts[i]);
      if (pair) ++i;
    }
    parts = std::move(joined);
  }
  std::vector<std::int64_t> ids;
  ids.reserve(parts.size());
  for (const auto& part : parts) ids.push_back(ids_.at(part));
  return ids;
}

std::vector<std::int64_t> BytePairs::encode(const std::string& text) {
  // Of natural text nearly all words, of random text no more than this.
  constexpr std::size_t kMostWords = 1 << 18;
  if (known_words_.size() >= kMostWords) known_words_.clear();
  std::vector<std::int64_t> ids;
  for (const auto& word : gpt2_words(text)) {
    auto& part = known_words_[word];
    if (part.empty()) part = encode_word(word);
    ids.insert(ids.end(), part.begin(), part.end());
  }
  return ids;
}

std::string BytePairs::decode(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (const auto id : ids) {
    HYFREEDP_CHECK(id >= 0 && id < vocabulary(), "an id outside the vocabulary");
    text += symbols_[static_cast<std::size_t>(id)];
  }
  return text;
}

}  // namespace hyfreedp::datasets
