#include "harness/models/files/piece_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>

#include "harness/base/utf8.h"

namespace hyfreedp::models {
namespace {

constexpr std::size_t kMostPieces = std::size_t{1} << 22;
constexpr std::size_t kLongestPiece = 1024;  // bytes
// SentencePiece keeps room for so many user-defined pieces that begin a text, and for so many
// characters of its table.
constexpr int kMostPrefixes = 64;
constexpr int kMostRules = 32;
constexpr int kDeepestRule = 256;                          // bytes
constexpr std::size_t kLargestMap = std::size_t{1} << 24;  // bytes
constexpr std::size_t kLongestRule = 1024;                 // bytes that stand for it

// Numbers of fields in sentencepiece_model.proto.
constexpr std::uint32_t kPieces = 1, kTrainer = 2, kNormalizer = 3;
constexpr std::uint32_t kText = 1, kScore = 2, kKind = 3;
constexpr std::uint32_t kModelKind = 3, kBlankIsLast = 24, kByteFallback = 35;
constexpr std::uint32_t kCharacterMap = 2, kAddBlank = 3, kMergeBlanks = 4, kEscapeBlanks = 5;

// A field of a message in protobuf's encoding.
struct Field {
  enum class Kind { number = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };

  std::uint32_t id = 0;
  Kind kind = Kind::number;
  std::uint64_t number = 0;
  std::string_view bytes = {};
};

// 7 bits a byte, the lowest first; the top bit says that another byte follows.
std::optional<std::uint64_t> take_number(std::string_view& from) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

std::optional<Field> take_field(std::string_view& from) {
  const auto tag = take_number(from);
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1FFFFFFF) return std::nullopt;
  Field field{.id = static_cast<std::uint32_t>(*tag >> 3), .kind = static_cast<Field::Kind>(*tag & 7)};
  std::uint64_t size = 0;
  switch (field.kind) {
    case Field::Kind::number:
    case Field::Kind::bytes: {
      const auto number = take_number(from);
      if (!number) return std::nullopt;
      field.number = *number;
      size = field.kind == Field::Kind::bytes ? *number : 0;
      break;
    }
    case Field::Kind::eight_bytes:
      size = 8;
      break;
    case Field::Kind::four_bytes:
      size = 4;
      break;
    default:
      return std::nullopt;
  }
  if (size > from.size()) return std::nullopt;
  field.bytes = from.substr(0, size);
  from.remove_prefix(size);
  return field;
}

// Calls visit(field), which returns whether it could be, for each field of a message. Returns
// whether all were read.
bool visit_fields(std::string_view message, const std::function<bool(const Field&)>& visit) {
  while (!message.empty()) {
    const auto field = take_field(message);
    if (!field || !visit(*field)) return false;
  }
  return true;
}

bool read_bytes(const Field& field, std::string& to) {
  to = field.bytes;
  return field.kind == Field::Kind::bytes;
}
bool read_flag(const Field& field, bool& to) {
  to = field.number != 0;
  return field.kind == Field::Kind::number;
}

bool read_piece(std::string_view message, Piece& piece) {
  return visit_fields(message, [&](const Field& field) {
    if (field.id == kText) return read_bytes(field, piece.text);
    if (field.id == kScore) {
      if (field.kind != Field::Kind::four_bytes) return false;
      std::memcpy(&piece.score, field.bytes.data(), sizeof piece.score);
    } else if (field.id == kKind) {
      if (field.kind != Field::Kind::number || field.number < 1 || field.number > 6) return false;
      piece.kind = static_cast<Piece::Kind>(field.number);
    }
    return true;
  });
}

bool read_trainer(std::string_view message, PieceModel& model, std::uint64_t& kind) {
  return visit_fields(message, [&](const Field& field) {
    if (field.id == kBlankIsLast) return read_flag(field, model.blank_is_last);
    if (field.id == kByteFallback) return read_flag(field, model.byte_fallback);
    if (field.id == kModelKind) kind = field.number;
    return field.id != kModelKind || field.kind == Field::Kind::number;
  });
}

bool read_normalizer(std::string_view message, PieceModel& model) {
  return visit_fields(message, [&](const Field& field) {
    if (field.id == kCharacterMap) return read_bytes(field, model.character_map);
    if (field.id == kAddBlank) return read_flag(field, model.add_blank);
    if (field.id == kMergeBlanks) return read_flag(field, model.merge_blanks);
    return field.id != kEscapeBlanks || read_flag(field, model.escape_blanks);
  });
}

// A table of characters: the bytes of a trie as u32, the trie, and texts that end with a NUL. The
// trie is a double array of Darts-clone: cells of 32 bits, by which each byte of a text leads from
// a base to another one, and the cell at a base that ends a rule has the place of its text.
class CharacterMap {
 public:
  explicit CharacterMap(std::string_view map) {
    std::uint32_t size = 0;
    if (map.size() < sizeof size || map.size() > kLargestMap) return;
    std::memcpy(&size, map.data(), sizeof size);
    map.remove_prefix(sizeof size);
    if (size == 0 || size % sizeof(std::uint32_t) != 0 || size >= map.size()) return;
    cells_.resize(size / sizeof(std::uint32_t));
    std::memcpy(cells_.data(), map.data(), size);
    texts_ = map.substr(size);
  }

  bool is_sound() {
    if (cells_.empty() || texts_.empty() || texts_.back() != '\0') return false;
    const auto rules = most_rules(offset(cells_[0]), 0);
    return rules && *rules <= kMostRules;
  }

 private:
  static std::uint32_t offset(std::uint32_t cell) { return (cell >> 10) << ((cell & 0x200U) >> 6); }

  // The most rules that end on one way from `base`; nothing where a way leads outside, or is so
  // deep that it may be a circle.
  std::optional<int> most_rules(std::uint32_t base, int depth) {
    if ((base | 0xFFU) >= cells_.size() || depth > kDeepestRule) return std::nullopt;
    if (const auto known = known_.find(base); known != known_.end()) return known->second;
    int most = 0;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const auto at = base ^ byte;
      const auto cell = cells_[at];
      if ((cell & 0x800000FFU) != byte) continue;
      const auto next = at ^ offset(cell);
      auto rules = most_rules(next, depth + 1);
      if (!rules) return std::nullopt;
      if ((cell & 0x100U) != 0) {
        if (!is_text(cells_[next] & 0x7FFFFFFFU)) return std::nullopt;
        ++*rules;
      }
      most = std::max(most, *rules);
    }
    return known_[base] = most;
  }

  bool is_text(std::uint32_t place) const {
    return place < texts_.size() && texts_.find('\0', place) - place <= kLongestRule;
  }

  std::vector<std::uint32_t> cells_;
  std::string_view texts_;
  std::unordered_map<std::uint32_t, int> known_;
};

// Says what is wrong with a piece by itself; empty if nothing is.
std::string_view wrong_with(const Piece& piece) {
  if (piece.text.empty()) return "is empty";
  if (piece.text.size() > kLongestPiece) return "is longer than 1,024 bytes";
  if (piece.text.find('\0') != std::string::npos) return "has a NUL";
  if (first_byte_not_utf8(piece.text)) return "is not UTF-8";
  return std::isfinite(piece.score) ? "" : "has no finite score";
}

// True if the UTF-8 text is one character.
bool is_one_character(std::string_view text) {
  return std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }) == 1;
}

// "<0x0A>".
bool is_byte(std::string_view text) {
  return text.size() == 6 && text.starts_with("<0x") && text.ends_with('>') &&
         text.find_first_not_of("0123456789ABCDEF", 3) == 5;
}

// The largest number of user-defined pieces that begin one of them, itself included.
int most_prefixes(const std::set<std::string_view>& user_defined) {
  int most = 0;
  for (const auto text : user_defined) {
    int prefixes = 0;
    for (std::size_t size = 1; size <= text.size(); ++size)
      prefixes += user_defined.contains(text.substr(0, size)) ? 1 : 0;
    most = std::max(most, prefixes);
  }
  return most;
}

void put_number(std::uint64_t number, std::string& to) {
  for (; number >= 0x80; number >>= 7) to += static_cast<char>((number & 0x7F) | 0x80);
  to += static_cast<char>(number);
}
void put_number(std::uint32_t id, std::uint64_t number, std::string& to) {
  put_number(std::uint64_t{id} << 3, to);
  put_number(number, to);
}
void put_bytes(std::uint32_t id, std::string_view bytes, std::string& to) {
  put_number((std::uint64_t{id} << 3) | static_cast<std::uint64_t>(Field::Kind::bytes), to);
  put_number(bytes.size(), to);
  to += bytes;
}

}  // namespace

Result<PieceModel> parse_piece_model(std::string_view bytes, const std::string& where) {
  PieceModel model;
  auto kind = static_cast<std::uint64_t>(PieceModel::Kind::unigram);
  const bool all_read = visit_fields(bytes, [&](const Field& field) {
    if (field.id > kNormalizer) return true;
    if (field.kind != Field::Kind::bytes || model.pieces.size() > kMostPieces) return false;
    if (field.id == kTrainer) return read_trainer(field.bytes, model, kind);
    if (field.id == kNormalizer) return read_normalizer(field.bytes, model);
    return read_piece(field.bytes, model.pieces.emplace_back());
  });
  if (!all_read || model.pieces.empty() || model.pieces.size() > kMostPieces)
    return error(where + ": is no model of SentencePiece's, or a damaged one.");
  if (kind != static_cast<std::uint64_t>(PieceModel::Kind::unigram) &&
      kind != static_cast<std::uint64_t>(PieceModel::Kind::pairs)) {
    return error(fmt::format(
        "{}: its 'model_type' is {}, which is not read; unigram (1) and byte-pair encoding (2) are.", where,
        kind));
  }
  model.kind = static_cast<PieceModel::Kind>(kind);
  if (auto checked = check_piece_model(model, where); !checked) return checked.error();
  return model;
}

Result<void> check_piece_model(const PieceModel& model, const std::string& where) {
  const auto bad = [&](const std::string& what) { return error(fmt::format("{}: {}.", where, what)); };
  std::set<std::string_view> texts, user_defined;
  std::size_t unknown = 0, bytes = 0, marks = 0;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const auto& piece = model.pieces[id];
    const auto named = [&](std::string_view what) {
      return bad(fmt::format("the piece {}, '{}', {}", id, as_one_line(piece.text), what));
    };
    if (const auto wrong = wrong_with(piece); !wrong.empty()) return named(wrong);
    const auto is = [&](Piece::Kind kind) { return piece.kind == kind; };
    if (!texts.insert(piece.text).second) return named("is there twice");
    // Byte-pair encoding looks up what is left by its text, whatever kind that is.
    if (is(Piece::Kind::control) && model.kind == PieceModel::Kind::pairs && is_one_character(piece.text))
      return named("is a mark of one character, which texts would become");
    if (is(Piece::Kind::byte) && !is_byte(piece.text)) return named("is no byte");
    if (is(Piece::Kind::user_defined)) user_defined.insert(piece.text);
    unknown += is(Piece::Kind::unknown) ? 1 : 0;
    bytes += is(Piece::Kind::byte) ? 1 : 0;
    marks += is(Piece::Kind::control) ? 1 : 0;
  }
  if (unknown != 1) return bad("must have one piece for what is unknown");
  if (unknown + bytes + marks == model.pieces.size()) return bad("has no pieces that texts are made of");
  if (bytes != (model.byte_fallback ? 256 : 0))
    return bad("must have all 256 bytes as pieces where 'byte_fallback' is set, and else none");
  if (most_prefixes(user_defined) > kMostPrefixes)
    return bad("has more than 64 user-defined pieces that begin one another");
  if (!model.character_map.empty() && !CharacterMap(model.character_map).is_sound())
    return bad("its table of characters ('precompiled_charsmap') is damaged");
  return {};
}

std::string serialize_piece_model(const PieceModel& model) {
  std::string bytes, part;
  for (const auto& piece : model.pieces) {
    part.clear();
    put_bytes(kText, piece.text, part);
    put_number((std::uint64_t{kScore} << 3) | static_cast<std::uint64_t>(Field::Kind::four_bytes), part);
    part.append(reinterpret_cast<const char*>(&piece.score), sizeof piece.score);
    put_number(kKind, static_cast<std::uint64_t>(piece.kind), part);
    put_bytes(kPieces, part, bytes);
  }
  part.clear();
  put_number(kModelKind, static_cast<std::uint64_t>(model.kind), part);
  put_number(kBlankIsLast, model.blank_is_last ? 1 : 0, part);
  put_number(kByteFallback, model.byte_fallback ? 1 : 0, part);
  put_bytes(kTrainer, part, bytes);
  part.clear();
  if (!model.character_map.empty()) put_bytes(kCharacterMap, model.character_map, part);
  put_number(kAddBlank, model.add_blank ? 1 : 0, part);
  put_number(kMergeBlanks, model.merge_blanks ? 1 : 0, part);
  put_number(kEscapeBlanks, model.escape_blanks ? 1 : 0, part);
  put_bytes(kNormalizer, part, bytes);
  return bytes;
}

}  // namespace hyfreedp::models
