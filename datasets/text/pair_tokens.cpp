#include "datasets/text/pair_tokens.h"

#include <fmt/format.h>

#include "datasets/text/tokenizer_config.h"

namespace hyfreedp::datasets {
namespace {

constexpr const char* kGpt2 = "GPT2Tokenizer";
constexpr const char* kEndOfText = "<|endoftext|>";

Result<Tokenizer::Marks> roberta_marks(const BytePairs& pairs, const std::string& folder) {
  const auto first = pairs.mark("<s>"), end = pairs.mark("</s>"), padding = pairs.mark("<pad>");
  if (first && end && padding)
    return Tokenizer::Marks{
        .before = {*first}, .between = {*end, *end}, .after = {*end}, .padding = *padding, .end = end};
  const char* missing = !first ? "<s>" : !end ? "</s>" : "<pad>";
  return error(
      fmt::format("{}/vocab.json: has no '{}', so it is no vocabulary of RoBERTa's.", folder, missing));
}

Result<Tokenizer::Marks> gpt2_marks(const BytePairs& pairs, const json::object& config,
                                    const std::string& folder) {
  const auto mark = [&](const char* key, const char* otherwise) {
    return pairs.mark(token_name(config, key).value_or(otherwise));
  };
  Tokenizer::Marks marks;
  marks.end = mark("eos_token", kEndOfText);
  if (!marks.end)
    return error(fmt::format("{}/vocab.json: has no token that ends a text, '{}' ('eos_token').", folder,
                             token_name(config, "eos_token").value_or(kEndOfText)));
  marks.padding = mark("pad_token", kEndOfText).value_or(*marks.end);
  if (!bool_or(config, "add_bos_token", false)) return marks;
  const auto begin = mark("bos_token", kEndOfText);
  if (!begin) return error(folder + "/tokenizer_config.json: its 'bos_token' is not in vocab.json.");
  marks.before = {*begin};
  return marks;
}

}  // namespace

Result<PairTokens> PairTokens::load(const std::string& folder) {
  auto pairs = BytePairs::load(folder + "/vocab.json", folder + "/merges.txt",
                               {"<s>", "</s>", "<pad>", "<unk>", "<mask>", kEndOfText});
  if (!pairs) return pairs.error();
  PairTokens tokens(std::move(*pairs));
  const auto any = tokenizer_config(folder, "");
  if (!any) return any.error();
  const bool is_gpt2 = !string_or(*any, "tokenizer_class", "").empty()
                           ? tokenizer_config(folder, kGpt2).has_value()
                           : tokens.pairs_.mark(kEndOfText).has_value();
  const auto config = tokenizer_config(folder, is_gpt2 ? kGpt2 : kRoberta);
  if (!config) return config.error();
  auto marks = is_gpt2 ? gpt2_marks(tokens.pairs_, *config, folder) : roberta_marks(tokens.pairs_, folder);
  if (!marks) return marks.error();
  tokens.marks_ = std::move(*marks);
  tokens.begins_with_blank_ = bool_or(*config, "add_prefix_space", false);
  return tokens;
}

std::vector<std::int64_t> PairTokens::encode(std::string_view text) {
  const bool blank = begins_with_blank_ && !text.empty() && text.front() != ' ';
  return pairs_.encode(blank ? " " + std::string(text) : std::string(text));
}

std::optional<std::string> PairTokens::decode(const std::vector<std::int64_t>& ids) const {
  auto text = pairs_.text_of(ids);
  return begins_with_blank_ && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace hyfreedp::datasets
