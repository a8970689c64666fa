#include "datasets/text/tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "datasets/text/json_tokens.h"
#include "datasets/text/pair_tokens.h"
#include "datasets/text/sentence_pieces.h"
#include "datasets/text/tokenizer_config.h"
#include "datasets/text/word_pieces.h"
#include "harness/base/files.h"

namespace hyfreedp::datasets {
namespace {

constexpr const char* kJson = "tokenizer.json";
constexpr const char* kPieces = "tokenizer.model";

bool is_there(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "/" + name, ignored);
}

enum class Kind { word_pieces, pairs, json, sentence_pieces, none };
Kind kind_of(const std::string& folder) {
  if (is_there(folder, "vocab.txt")) return Kind::word_pieces;
  const bool has_pairs = is_there(folder, "vocab.json") && is_there(folder, "merges.txt");
  if (!is_there(folder, kJson)) {
    if (has_pairs) return Kind::pairs;
    return is_there(folder, kPieces) ? Kind::sentence_pieces : Kind::none;
  }
  const bool is_roberta = is_there(folder, "tokenizer_config.json") && tokenizer_config(folder, kRoberta);
  return has_pairs && is_roberta ? Kind::pairs : Kind::json;
}

template <class T>
Result<std::unique_ptr<Tokenizer>> loaded(const std::string& folder) {
  auto tokenizer = T::load(folder);
  if (!tokenizer) return tokenizer.error();
  return std::unique_ptr<Tokenizer>(std::make_unique<T>(std::move(*tokenizer)));
}

}  // namespace

void Tokenizer::fill_row(std::string_view text, const std::string_view* second, std::span<std::int64_t> ids) {
  auto one = encode(text);
  auto other = second != nullptr ? encode(*second) : std::vector<std::int64_t>();
  const auto between = second != nullptr ? marks_.between : std::vector<std::int64_t>();
  const auto room = ids.size() - marks_.before.size() - between.size() - marks_.after.size();
  while (one.size() + other.size() > room) (one.size() > other.size() ? one : other).pop_back();
  auto to = ids.begin();
  using Ids = std::vector<std::int64_t>;
  for (const Ids* part :
       std::initializer_list<const Ids*>{&marks_.before, &one, &between, &other, &marks_.after})
    to = std::ranges::copy(*part, to).out;
  std::fill(to, ids.end(), marks_.padding);
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& folder) {
  switch (kind_of(folder)) {
    case Kind::word_pieces:
      return loaded<WordPieces>(folder);
    case Kind::pairs:
      return loaded<PairTokens>(folder);
    case Kind::json:
      return loaded<JsonTokens>(folder);
    case Kind::sentence_pieces:
      return loaded<SentencePieces>(folder);
    case Kind::none:
      break;
  }
  return error(fmt::format(
      "{}: has no tokenizer that can be read: vocab.txt (WordPiece), vocab.json and merges.txt (pairs of "
      "bytes of GPT-2, OPT or RoBERTa), tokenizer.json (byte-pair encoding), or tokenizer.model "
      "(SentencePiece).",
      folder));
}

Result<std::string> tokenizer_checksum(const std::string& folder) {
  std::string lines;
  const auto kind = kind_of(folder);
  for (const std::string name : kTokenizerFiles) {
    const bool is_other =
        (name == kJson && kind != Kind::json) || (name == kPieces && kind != Kind::sentence_pieces);
    if (is_other || !is_there(folder, name)) continue;
    const auto text = read_file(fmt::format("{}/{}", folder, name));
    if (!text) return text.error();
    lines += fmt::format("{} {}\n", name, sha256_hex(*text));
  }
  return sha256_hex(lines);
}

}  // namespace hyfreedp::datasets
