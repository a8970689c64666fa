#include "datasets/text/sentence_pieces.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include "datasets/text/tokenizer_config.h"
#include "harness/base/files.h"
#include "harness/base/utf8.h"

// SentencePiece and LibTorch each export a variable of this name, and in a process with both the
// dynamic linker takes the first for the two: SentencePiece's object of 32 bytes is then built over
// LibTorch's variable of 4 and what lies behind it, a mutex. Both take this one, since the program
// comes before its libraries. SentencePiece builds its object here; LibTorch only takes the
// address, for a command line that nobody passes to it.
extern "C" {
alignas(std::max_align_t) char FLAGS_minloglevel[64];
}

namespace hyfreedp::datasets {
namespace {

constexpr const char* kBlank = "\xe2\x96\x81";
constexpr std::size_t kLongestText = std::size_t{1} << 26;
constexpr std::int64_t kMostTokens = 10'000'000;

}  // namespace

// A class of transformers and its defaults for tokenizer_config.json; "": no such special token.
struct PieceClass {
  const char* name;
  const char *bos, *eos, *padding;
  bool may_have_bos, always_has_eos;  // around each text
  bool has_legacy;
  std::int64_t extra_ids;
};

namespace {

constexpr PieceClass kClasses[] = {{"LlamaTokenizer", "<s>", "</s>", "", true, false, true, 0},
                                   {"T5Tokenizer", "", "</s>", "<pad>", false, true, true, 100},
                                   {"GemmaTokenizer", "<bos>", "<eos>", "<pad>", true, false, false, 0}};

Result<const PieceClass*> class_of(const json::object& config, const std::string& where) {
  const auto name = string_or(config, "tokenizer_class", kClasses[0].name);
  for (const auto& one : kClasses) {
    if (name == one.name || name == std::string(one.name) + "Fast") return &one;
  }
  return error(fmt::format(
      "{}: 'tokenizer_class' is {}; with tokenizer.model those of LlamaTokenizer, T5Tokenizer and "
      "GemmaTokenizer are read.",
      where, as_one_line(name)));
}

}  // namespace

SentencePieces::SentencePieces() = default;
SentencePieces::SentencePieces(SentencePieces&&) noexcept = default;
SentencePieces& SentencePieces::operator=(SentencePieces&&) noexcept = default;
SentencePieces::~SentencePieces() = default;

Result<SentencePieces> SentencePieces::load(const std::string& folder) {
  const auto path = folder + "/tokenizer.model", config_path = folder + "/tokenizer_config.json";
  const auto config = tokenizer_config(folder, "");
  if (!config) return config.error();
  const auto kind = class_of(*config, config_path);
  if (!kind) return kind.error();
  const auto bytes = read_file(path);
  if (!bytes) return bytes.error();
  auto model = models::parse_piece_model(*bytes, path);
  if (!model) return model.error();
  if (const auto* given = config->if_contains("sp_model_kwargs");
      given != nullptr && !given->is_null() && *given != json::object())
    return error(fmt::format("{}: 'sp_model_kwargs: {}' is not known here.", config_path, shown(*given)));
  std::error_code ignored;
  if (!config->contains("added_tokens_decoder") &&
      std::filesystem::exists(folder + "/added_tokens.json", ignored))
    return error(
        folder +
        "/added_tokens.json: is read from tokenizer_config.json alone ('added_tokens_decoder'), which "
        "transformers writes from 4.34 on; save the tokenizer with such a version.");
  SentencePieces pieces;
  if (auto read = pieces.read_added(*config, **kind, *model, config_path); !read) return read.error();
  if (auto read = pieces.read_marks(*config, **kind, config_path); !read) return read.error();
  pieces.own_blanks_ = (*kind)->has_legacy && !bool_or(*config, "legacy", true);
  pieces.begins_with_blank_ = bool_or(*config, "add_prefix_space", true);
  if (pieces.own_blanks_) model->add_blank = false;
  if (auto made = pieces.make_processor(*model, path); !made) return made.error();
  if (pieces.own_blanks_) {
    pieces.guard_ = token_name(*config, "unk_token").value_or("<unk>");
    pieces.guard_tokens_ = pieces.cut(pieces.guard_).size();
  }
  return pieces;
}

Result<void> SentencePieces::read_added(const json::object& config, const PieceClass& kind,
                                        const models::PieceModel& model, const std::string& where) {
  const auto bad = [&](std::string_view name, const char* what) {
    return error(fmt::format("{}: the added token '{}' {}", where, as_one_line(name), what));
  };
  for (const auto& piece : model.pieces) ids_.emplace(piece.text, vocabulary_++);
  const auto first_added = vocabulary_;
  vocabulary_ += std::clamp<std::int64_t>(int_or(config, "extra_ids", kind.extra_ids), 0, kMostTokens);
  const auto* given = config.if_contains("added_tokens_decoder");
  if (given == nullptr) return {};
  if (!given->is_object()) return error(where + ": 'added_tokens_decoder' is not an object.");
  for (const auto& item : given->get_object()) {
    const std::string_view key(item.key());
    std::int64_t id = -1;
    const auto* const end = key.data() + key.size();
    const bool is_id = std::from_chars(key.data(), end, id).ptr == end && id >= 0 && id < kMostTokens;
    const auto* token = item.value().if_object();
    const auto found = token_name(json::object{{"token", item.value()}}, "token");
    if (!is_id || token == nullptr || !found) return bad(key, "has no id or no 'content'.");
    const auto& name = *found;
    const auto* special = token->if_contains("special");
    const bool is_special = special != nullptr && *special == true;
    if (id < first_added) {
      const auto& piece = model.pieces[static_cast<std::size_t>(id)];
      if (piece.text != name) return bad(name, "has the id of another piece of tokenizer.model.");
      if (is_special || piece.kind == models::Piece::Kind::user_defined) continue;
    } else if (is_special && ids_.emplace(name, id).first->second == id) {
      vocabulary_ = std::max(vocabulary_, id + 1);
      continue;
    }
    if (is_special) return bad(name, "is a piece of tokenizer.model, too, with another id.");
    return bad(name, "is not special: such ones are cut out of texts, which is not done here.");
  }
  return {};
}

Result<void> SentencePieces::read_marks(const json::object& config, const PieceClass& kind,
                                        const std::string& where) {
  const auto id_of = [&](const char* key, const char* otherwise) -> std::optional<std::int64_t> {
    const auto found = ids_.find(token_name(config, key).value_or(otherwise));
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  };
  marks_.end = id_of("eos_token", kind.eos);
  if (!marks_.end) return error(where + ": its 'eos_token' is no piece of tokenizer.model.");
  marks_.padding = id_of("pad_token", kind.padding).value_or(*marks_.end);
  if (kind.may_have_bos && bool_or(config, "add_bos_token", true)) {
    const auto begin = id_of("bos_token", kind.bos);
    if (!begin) return error(where + ": its 'bos_token' is no piece of tokenizer.model.");
    marks_.before = {*begin};
  }
  if (kind.always_has_eos || bool_or(config, "add_eos_token", false)) marks_.after = {*marks_.end};
  marks_.between = marks_.after;
  marks_.between.insert(marks_.between.end(), marks_.before.begin(), marks_.before.end());
  return {};
}

Result<void> SentencePieces::make_processor(const models::PieceModel& model, const std::string& where) {
  processor_ = std::make_unique<sentencepiece::SentencePieceProcessor>();
  try {
    const auto loaded = processor_->LoadFromSerializedProto(models::serialize_piece_model(model));
    if (loaded.ok()) return {};
    return error(fmt::format("{}: {}", where, as_one_line(loaded.ToString())));
  } catch (const std::exception& thrown) {
    return error(fmt::format("{}: {}", where, as_one_line(thrown.what())));
  }
}

std::vector<std::int64_t> SentencePieces::cut(std::string_view text) const {
  std::vector<int> ids;
  const auto done = processor_->Encode(text, &ids);
  HYFREEDP_CHECK(done.ok(), done.ToString());
  return {ids.begin(), ids.end()};
}

std::vector<std::int64_t> SentencePieces::encode(std::string_view text) {
  HYFREEDP_CHECK(text.size() <= kLongestText, "a text of more than 2^26 bytes");
  if (!own_blanks_ || text.empty()) return cut(text);
  std::string whole(text);
  boost::replace_all(whole, kBlank, " ");
  if (begins_with_blank_) whole.insert(0, kBlank);
  if (!whole.starts_with(kBlank) && !whole.starts_with(' ')) return cut(whole);
  // The guard keeps a first blank, which would be lost where runs of blanks become one.
  auto ids = cut(guard_ + whole);
  if (ids.size() >= guard_tokens_)
    ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(guard_tokens_));
  return ids;
}

std::optional<std::string> SentencePieces::decode(const std::vector<std::int64_t>& ids) const {
  std::vector<int> pieces;
  for (const auto id : ids) {
    if (id < 0 || id >= processor_->GetPieceSize()) continue;  // an added token, which is special
    const auto piece = static_cast<int>(id);
    if (!processor_->IsControl(piece) && !processor_->IsUnknown(piece)) pieces.push_back(piece);
  }
  std::string text;
  const auto done = processor_->Decode(pieces, &text);
  HYFREEDP_CHECK(done.ok(), done.ToString());
  return own_blanks_ && begins_with_blank_ && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace hyfreedp::datasets
