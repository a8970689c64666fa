#include "datasets/text/byte_pairs.h"

#include <algorithm>
#include <fmt/format.h>
#include <queue>
#include <sstream>
#include <utf8proc.h>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/utf8.h"

namespace hyfreedp::datasets {
namespace {

constexpr std::int64_t kNone = -1;
// The most words that the cache holds: nearly all of natural text. A full cache is emptied.
constexpr std::size_t kMostWords = 1 << 18;
constexpr std::size_t kLongestKnownWord = 64;  // bytes

// Bytes of the character that begins `text`; a byte that begins none is one.
std::size_t character_length(std::string_view text, utf8proc_int32_t& code) {
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  return length > 0 ? static_cast<std::size_t>(length) : 1;
}

// The byte that a printable character stands for in GPT-2's files: bytes that print are written as
// themselves, the others as the characters from U+0100 on, in order.
const std::unordered_map<utf8proc_int32_t, char>& stand_ins() {
  static const auto table = [] {
    std::unordered_map<utf8proc_int32_t, char> bytes;
    utf8proc_int32_t next = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const bool prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      bytes[prints ? byte : next++] = static_cast<char>(byte);
    }
    return bytes;
  }();
  return table;
}

// Bytes of a symbol as GPT-2's files write it.
Result<std::string> bytes_of(std::string_view written, const std::string& where) {
  std::string result;
  for (std::size_t at = 0; at < written.size();) {
    utf8proc_int32_t code = -1;
    at += character_length(written.substr(at), code);
    const auto found = stand_ins().find(code);
    if (found == stand_ins().end()) {
      return error(
          fmt::format("{}: '{}' is not a symbol of byte-pair encoding.", where, as_one_line(written)));
    }
    result.push_back(found->second);
  }
  return result;
}

}  // namespace

Result<BytePairs> BytePairs::make(const PairTables& tables, const std::string& symbols,
                                  const std::string& pairs) {
  BytePairs made;
  made.marks_ = tables.marks;
  made.cuts_ = tables.cuts;
  made.bytes_ = tables.bytes;
  made.unknown_ = tables.unknown;
  made.one_unknown_ = tables.one_unknown;
  made.whole_words_ = tables.whole_words;
  if (auto read = made.read_symbols(tables, symbols); !read) return read.error();
  if (auto read = made.read_pairs(tables, pairs); !read) return read.error();
  return made;
}

Result<BytePairs> BytePairs::load(const std::string& encoder_path, const std::string& merges_path,
                                  const std::vector<std::string>& marks) {
  const auto encoder = read_json_file(encoder_path);
  if (!encoder) return encoder.error();
  if (!encoder->is_object()) return error(encoder_path + ": must be an object of symbols and their ids.");
  PairTables tables;
  for (const auto& item : encoder->get_object()) {
    const std::string written(item.key());
    const auto id = item.value().is_int64() ? item.value().get_int64() : kNone;
    if (std::ranges::find(marks, written) != marks.end()) {
      tables.marks[written] = id;
    } else {
      tables.symbols.emplace_back(written, id);
    }
  }
  const auto content = read_file(merges_path);
  if (!content) return content.error();
  std::istringstream lines(*content);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("#version")) continue;
    const auto gap = line.find(' ');
    if (gap == std::string::npos)
      return error(fmt::format("{}: '{}' is not a pair of symbols.", merges_path, as_one_line(line)));
    tables.pairs.emplace_back(line.substr(0, gap), line.substr(gap + 1));
  }
  auto made = make(tables, encoder_path, merges_path);
  if (!made) return made;
  if (const auto* const none = std::ranges::find(made->byte_ids_, kNone); none != made->byte_ids_.end())
    return error(fmt::format("{}: byte {} has no symbol.", encoder_path, none - made->byte_ids_.begin()));
  return made;
}

Result<void> BytePairs::read_symbols(const PairTables& tables, const std::string& where) {
  symbols_.resize(tables.symbols.size() + tables.marks.size());
  std::vector<bool> seen(symbols_.size());
  const auto put = [&](std::int64_t id, const std::string& stands_for) {
    if (id < 0 || id >= vocabulary() || seen[static_cast<std::size_t>(id)]) return false;
    seen[static_cast<std::size_t>(id)] = true;
    symbols_[static_cast<std::size_t>(id)] = stands_for;
    return true;
  };
  const auto bad_ids = [&] {
    return error(fmt::format("{}: the ids of {} symbols must be 0 to {}, each once.", where, symbols_.size(),
                             symbols_.size() - 1));
  };
  for (const auto& [name, id] : marks_) {
    if (!put(id, name)) return bad_ids();
  }
  for (const auto& [written, id] : tables.symbols) {
    const auto bytes = bytes_ ? bytes_of(written, where) : Result<std::string>(written);
    if (!bytes) return bytes.error();
    if (!put(id, *bytes)) return bad_ids();
    ids_[*bytes] = id;
  }
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const auto name = bytes_ ? std::string(1, static_cast<char>(byte)) : fmt::format("<0x{:02X}>", byte);
    const auto found = ids_.find(name);
    byte_ids_[byte] = found == ids_.end() ? kNone : found->second;
    if (!bytes_ && byte_ids_[byte] == kNone) return error(fmt::format("{}: has no '{}'.", where, name));
  }
  return {};
}

Result<void> BytePairs::read_pairs(const PairTables& tables, const std::string& where) {
  std::int64_t rank = 0;
  for (const auto& [left, right] : tables.pairs) {
    std::array<std::int64_t, 3> ids{};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto written = i == 0 ? left : i == 1 ? right : left + right;
      const auto bytes = bytes_ ? bytes_of(written, where) : Result<std::string>(written);
      if (!bytes) return bytes.error();
      const auto found = ids_.find(*bytes);
      if (found == ids_.end()) {
        return error(fmt::format("{}: '{}' of the pair '{} {}' has no id.", where, as_one_line(written),
                                 as_one_line(left), as_one_line(right)));
      }
      ids[i] = found->second;
    }
    joins_[(static_cast<std::uint64_t>(ids[0]) << 32) | static_cast<std::uint64_t>(ids[1])] = {rank++,
                                                                                               ids[2]};
  }
  return {};
}

const BytePairs::Join* BytePairs::join_of(std::int64_t left, std::int64_t right) const {
  const auto found =
      joins_.find((static_cast<std::uint64_t>(left) << 32) | static_cast<std::uint64_t>(right));
  return found == joins_.end() ? nullptr : &found->second;
}

std::optional<std::int64_t> BytePairs::mark(const std::string& name) const {
  const auto found = marks_.find(name);
  return found == marks_.end() ? std::nullopt : std::optional(found->second);
}

void BytePairs::add_bytes(std::string_view bytes, std::vector<std::int64_t>& to) const {
  for (const char byte : bytes) {
    const auto id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id != kNone) {
      to.push_back(id);
    } else if (unknown_ && !(one_unknown_ && !to.empty() && to.back() == *unknown_)) {
      to.push_back(*unknown_);
    }
  }
}

std::vector<std::int64_t> BytePairs::first_symbols(std::string_view word) const {
  std::vector<std::int64_t> ids;
  ids.reserve(word.size());
  for (std::size_t at = 0; at < word.size();) {
    utf8proc_int32_t code = 0;
    const auto length = bytes_ ? 1 : character_length(word.substr(at), code);
    const auto symbol = word.substr(at, length);
    const auto found = bytes_ ? ids_.end() : ids_.find(symbol);
    if (found != ids_.end()) {
      ids.push_back(found->second);
    } else {
      add_bytes(symbol, ids);
    }
    at += length;
  }
  return ids;
}

// The symbols are a list in which a joined one takes the place of its left part; pairs wait in a
// queue, and one that has changed since is passed over.
void BytePairs::join_pairs(std::vector<std::int64_t>& ids) const {
  struct Waiting {
    Join join;
    std::size_t at;
    bool operator<(const Waiting& other) const {  // the last of a priority_queue comes first
      return std::pair(join.rank, at) > std::pair(other.join.rank, other.at);
    }
  };
  const auto count = ids.size();
  std::vector<std::size_t> next(count), before(count);
  std::priority_queue<Waiting> waiting;
  const auto look_at = [&](std::size_t at) {
    if (next[at] == count) return;
    if (const auto* join = join_of(ids[at], ids[next[at]])) waiting.push({*join, at});
  };
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    before[i] = i == 0 ? count : i - 1;
  }
  for (std::size_t i = 0; i < count; ++i) look_at(i);
  while (!waiting.empty()) {
    const auto [join, at] = waiting.top();
    waiting.pop();
    const auto right = next[at];
    if (ids[at] == kNone || right == count) continue;
    const auto* const now = join_of(ids[at], ids[right]);
    if (now == nullptr || now->rank != join.rank) continue;
    ids[at] = join.id;
    ids[right] = kNone;
    next[at] = next[right];
    if (next[at] != count) before[next[at]] = at;
    if (before[at] != count) look_at(before[at]);
    look_at(at);
  }
  std::erase(ids, kNone);
}

std::vector<std::int64_t> BytePairs::encode_word(std::string_view word) const {
  if (whole_words_) {
    if (const auto found = ids_.find(word); found != ids_.end()) return {found->second};
  }
  auto ids = first_symbols(word);
  join_pairs(ids);
  return ids;
}

std::vector<std::int64_t> BytePairs::encode(std::string_view text) {
  std::vector<std::int64_t> ids;
  const auto add = [&ids](const std::vector<std::int64_t>& part) {
    ids.insert(ids.end(), part.begin(), part.end());
  };
  for_words(text, cuts_, [&](std::string_view word) {
    if (word.size() > kLongestKnownWord) return add(encode_word(word));
    auto known = known_words_.find(word);
    if (known == known_words_.end()) {
      if (known_words_.size() >= kMostWords) known_words_.clear();
      known = known_words_.emplace(word, encode_word(word)).first;
    }
    add(known->second);
  });
  return ids;
}

std::string BytePairs::text_of(const std::vector<std::int64_t>& ids) const {
  std::map<std::int64_t, std::string> others;  // ids that do not stand for what their symbols are
  for (const auto& [name, id] : marks_) others[id] = "";
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    if (!bytes_) others[byte_ids_[byte]] = std::string(1, static_cast<char>(byte));
  }
  std::string text;
  for (const auto id : ids) {
    if (id < 0 || id >= vocabulary()) continue;
    const auto other = others.find(id);
    text += other != others.end() ? other->second : symbols_[static_cast<std::size_t>(id)];
  }
  return text;
}

}  // namespace hyfreedp::datasets
