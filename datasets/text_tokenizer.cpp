#include "datasets/text_tokenizer.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/base/option_lines.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::datasets {

std::vector<OptionSpec> tokenizer_options(std::string help) {
  return options_of<TokenizerOptions>(
      {later_option(plain_option("tokenizer", std::move(help))),
       later_option(
           plain_option("tokenizer_sha256", "checksum of that tokenizer; filled in when a spec is read")),
       later_option(ranged_option("vocabulary", 1, 1e7, "different tokens; filled in when a spec is read"))});
}

Result<std::unique_ptr<Tokenizer>> fill_in_tokenizer(json::object& options) {
  const auto given = read_options<TokenizerOptions>(options);
  const auto folder = models::locate_weights(given.tokenizer.value_or(""));
  if (!folder) {
    if (given.vocabulary) return std::unique_ptr<Tokenizer>();
    return folder.error();
  }
  auto tokenizer = load_tokenizer(*folder);
  if (!tokenizer) return tokenizer;
  const auto checksum = tokenizer_checksum(*folder);
  if (!checksum) return checksum.error();
  if (const auto before = given.tokenizer_sha256.value_or(*checksum); before != *checksum)
    return error(fmt::format("{}: its tokenizer has the SHA-256 {}, not {}.", *folder, *checksum, before));
  options["tokenizer_sha256"] = *checksum;
  options["vocabulary"] = (**tokenizer).vocabulary();
  return tokenizer;
}

Result<json::object> with_continued_tokenizer(json::object options, Notes& /*notes*/) {
  const auto name = read_options<TokenizerOptions>(options).tokenizer.value_or("");
  if (name.empty()) {
    for (const char* key : {"tokenizer_sha256", "vocabulary"}) {
      if (options.contains(key)) return error(fmt::format("'{}' is read only with 'tokenizer'.", key));
    }
    return options;
  }
  const auto tokenizer = fill_in_tokenizer(options);
  if (!tokenizer) return tokenizer.error();
  if (*tokenizer != nullptr && !(**tokenizer).marks().end)
    return error(
        fmt::format("The tokenizer of '{}' names no token that ends a text ('eos_token' in its "
                    "tokenizer_config.json).",
                    name));
  return options;
}

Result<std::unique_ptr<Tokenizer>> chosen_tokenizer(const json::object& options) {
  const auto given = read_options<TokenizerOptions>(options);
  const auto folder = models::locate_weights(given.tokenizer.value_or(""));
  if (!folder) return folder.error();
  const auto checksum = tokenizer_checksum(*folder);
  if (!checksum) return checksum.error();
  if (*checksum != given.tokenizer_sha256)
    return error(*folder + ": its tokenizer is not the one with which the spec was read.");
  return load_tokenizer(*folder);
}

void note_unscored(const std::string& where, std::int64_t unscored, std::int64_t records, std::int64_t length,
                   Notes& notes) {
  if (unscored == 0) return;
  notes.push_back(fmt::format(
      "{}: of {} of {} test records the first {} tokens ('length') are the prompt alone, so that nothing of "
      "them is scored; of training records the same may be so, which then train nothing",
      where, unscored, records, length));
}

void fill_continued(std::span<const std::int64_t> tokens, std::size_t scored_from, std::int64_t padding,
                    std::span<std::int64_t> ids, std::span<std::int64_t> labels) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool is_token = i < tokens.size();
    ids[i] = is_token ? tokens[i] : padding;
    labels[i] = is_token && i >= scored_from ? tokens[i] : kNotScored;
  }
}

}  // namespace hyfreedp::datasets
