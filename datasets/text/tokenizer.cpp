#include "datasets/text/tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "datasets/text/roberta_tokens.h"
#include "datasets/text/word_pieces.h"
#include "harness/base/files.h"

namespace hyfreedp::datasets {
namespace {

bool is_there(const std::string& folder, const char* name) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "/" + name, ignored);
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
  const auto marks = static_cast<std::size_t>(second != nullptr ? 2 + marks_.between : 2);
  while (one.size() + other.size() > ids.size() - marks) (one.size() > other.size() ? one : other).pop_back();
  auto to = ids.begin();
  *to++ = marks_.first;
  to = std::ranges::copy(one, to).out;
  if (second != nullptr) {
    to = std::fill_n(to, marks_.between, marks_.separator);
    to = std::ranges::copy(other, to).out;
  }
  *to++ = marks_.separator;
  std::fill(to, ids.end(), marks_.padding);
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& folder) {
  if (is_there(folder, "vocab.txt")) return loaded<WordPieces>(folder);
  if (is_there(folder, "vocab.json") && is_there(folder, "merges.txt")) return loaded<RobertaTokens>(folder);
  return error(fmt::format(
      "{}: has no tokenizer that can be read: vocab.txt (WordPiece), or vocab.json and merges.txt (RoBERTa's "
      "pairs of bytes). Of a folder with tokenizer.json alone, transformers' slow tokenizer writes these: "
      "AutoTokenizer.from_pretrained(FOLDER, use_fast=False).save_pretrained(FOLDER).",
      folder));
}

Result<std::string> tokenizer_checksum(const std::string& folder) {
  std::string lines;
  for (const char* name : kTokenizerFiles) {
    if (!is_there(folder, name)) continue;
    const auto text = read_file(folder + "/" + name);
    if (!text) return text.error();
    lines += fmt::format("{} {}\n", name, sha256_hex(*text));
  }
  return sha256_hex(lines);
}

}  // namespace hyfreedp::datasets
