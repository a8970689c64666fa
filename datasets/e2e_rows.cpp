#include <algorithm>
#include <memory>

#include "datasets/e2e.h"
#include "datasets/formats/csv.h"
#include "datasets/own/own_files.h"
#include "datasets/text/byte_pairs.h"

namespace hyfreedp::datasets {
namespace {

constexpr const char* kEndOfText = "<|endoftext|>";

}  // namespace

Result<std::vector<E2eRecord>> read_e2e(const std::string& path) {
  auto lines = read_csv(path, {"mr", "ref"});
  if (!lines) return lines.error();
  std::vector<E2eRecord> records;
  for (auto& line : *lines) records.push_back({std::move(line.fields[0]), std::move(line.fields[1])});
  return records;
}

std::vector<std::int64_t> E2eTokens::prompt(const E2eRecord& record) const {
  auto tokens = before;
  const auto more = encode(record.mr + " ||");
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

Result<E2eTokens> e2e_tokens(const json::object& options, const std::string& folder) {
  if (has_text(read_options<TokenizerOptions>(options).tokenizer)) {
    auto loaded = chosen_tokenizer(options);
    if (!loaded) return loaded.error();
    const std::shared_ptr<Tokenizer> tokenizer = std::move(*loaded);
    const auto& marks = tokenizer->marks();
    return E2eTokens{[tokenizer](std::string_view text) { return tokenizer->encode(text); }, marks.before,
                     marks.end.value()};
  }
  auto loaded = BytePairs::load(folder + "/gpt2/encoder.json", folder + "/gpt2/vocab.bpe", {kEndOfText});
  if (!loaded) return loaded.error();
  const auto pairs = std::make_shared<BytePairs>(std::move(*loaded));
  return E2eTokens{
      [pairs](std::string_view text) { return pairs->encode(text); }, {}, pairs->mark(kEndOfText).value()};
}

Result<json::object> E2e::complete(json::object given, Notes& notes) {
  auto options = with_continued_tokenizer(std::move(given), notes);
  if (!options) return options;
  // What is not here, or cannot be read, is told when it is loaded.
  const auto folder = locate(with_needed_files(facts(), *options));
  const auto tokens = folder ? e2e_tokens(*options, *folder) : Result<E2eTokens>(folder.error());
  const auto records =
      folder ? read_e2e(*folder + kTestFile) : Result<std::vector<E2eRecord>>(folder.error());
  if (!tokens || !records) return options;
  const auto length = sizes(*options).length;
  const auto unscored = std::ranges::count_if(
      *records, [&](const E2eRecord& record) { return std::ssize(tokens->prompt(record)) >= length; });
  note_unscored("e2e-dev", unscored, std::ssize(*records), length, notes);
  return options;
}

}  // namespace hyfreedp::datasets
