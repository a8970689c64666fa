#include "datasets/text/roberta_tokens.h"

#include <fmt/format.h>

#include "datasets/text/tokenizer_config.h"

namespace hyfreedp::datasets {

Result<RobertaTokens> RobertaTokens::load(const std::string& folder) {
  auto pairs = BytePairs::load(folder + "/vocab.json", folder + "/merges.txt",
                               {"<s>", "</s>", "<pad>", "<unk>", "<mask>"});
  if (!pairs) return pairs.error();
  RobertaTokens tokens(std::move(*pairs));
  const auto first = tokens.pairs_.mark("<s>"), end = tokens.pairs_.mark("</s>");
  const auto padding = tokens.pairs_.mark("<pad>");
  if (!first || !end || !padding) {
    return error(fmt::format("{}/vocab.json: has no '{}', so it is no vocabulary of RoBERTa's.", folder,
                             !first ? "<s>"
                             : !end ? "</s>"
                                    : "<pad>"));
  }
  tokens.marks_ = {
      .before = {*first}, .between = {*end, *end}, .after = {*end}, .padding = *padding, .end = end};
  const auto config = tokenizer_config(folder, kRoberta);
  if (!config) return config.error();
  tokens.begins_with_blank_ = bool_or(*config, "add_prefix_space", false);
  return tokens;
}

std::vector<std::int64_t> RobertaTokens::encode(std::string_view text) {
  const bool blank = begins_with_blank_ && !text.empty() && text.front() != ' ';
  return pairs_.encode(blank ? " " + std::string(text) : std::string(text));
}

}  // namespace hyfreedp::datasets
