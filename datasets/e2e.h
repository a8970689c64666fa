// The E2E NLG challenge (Novikova et al., arXiv:1706.09254) as sequences of tokens, GPT-2's or
// those of the weights folder that the option `tokenizer` names (text_tokenizer.h). A record
// describes a restaurant by slots ("mr") and by a sentence ("ref").
//
//   tokens   marks that the tokenizer puts before a text (GPT-2's: none), mr, " ||", " " and ref,
//            end of text, then end of text as padding; cut at `length` tokens
//   labels   those of ref and of the end of text after it; -100 for the mr, the separator and the
//            padding
// The development file's first 4172 records are private_train and its last 500 private_validation;
// the test file with references is test. The records of one mr stand together, so train and
// validation share at most one mr.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/facts.h"
#include "datasets/text_tokenizer.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

struct E2eOptions {
  std::int64_t length = 64;  // tokens of an example
};
BOOST_DESCRIBE_STRUCT(E2eOptions, (), (length))

struct E2e {
  static Facts facts() {
    return {.name = "e2e-dev",
            .title = "E2E NLG challenge, development set, GPT-2's or another tokenizer's tokens",
            .source =
                "Novikova, Dusek, Rieser: The E2E Dataset: New Challenges For End-to-End Generation, "
                "arXiv:1706.09254",
            .how_to_get =
                "e2e/devset.csv and e2e/testset_w_refs.csv from the challenge's page, gpt2/encoder.json and "
                "gpt2/vocab.bpe from "
                "GPT-2's release",
            .search_paths = {"$HYFREEDP_DATA"},
            .files = {{"e2e/devset.csv", "fc26b78cdb849c80545f513b223d1e051138b43882eeb79e3eb153e689c864f9"},
                      {"e2e/testset_w_refs.csv",
                       "edc8db685e39bb9824d5bd70c18b1c9b0412d14b527aa960e2d1c8251ee15ccd"},
                      {"gpt2/encoder.json",
                       "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783", "tokenizer"},
                      {"gpt2/vocab.bpe", "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
                       "tokenizer"}},
            .options = joined(
                {options_of<E2eOptions>({ranged_option(
                     "length", 2, 1024, "tokens of an example; longer ones are cut, shorter ones padded")}),
                 tokenizer_options("a weights folder, or the name of fetched weights, whose tokenizer "
                                   "is taken in place of GPT-2's")}),
            .sizes = sizes,
            .complete = complete,
            .licence = "CC BY-SA 4.0; GPT-2's vocabulary: MIT"};
  }
  static Sizes sizes(const json::object& options) {
    const auto length = read_options<E2eOptions>(options).length;
    constexpr std::int64_t kGpt2Vocabulary = 50257;
    const auto vocabulary = read_options<TokenizerOptions>(options).vocabulary.value_or(kGpt2Vocabulary);
    return {.private_train = 4172,
            .private_validation = 500,
            .test = 4693,
            .classes = vocabulary,
            .features = length,
            .length = length,
            .vocabulary = vocabulary,
            .labels = LabelKind::tokens};
  }
  // In e2e_rows.cpp, which is without LibTorch.
  static Result<json::object> complete(json::object options, Notes& notes);
  static Result<Dataset> load(const Facts& facts, const json::object& options);
  static constexpr const char* kTestFile = "/e2e/testset_w_refs.csv";
};

struct E2eRecord {
  std::string mr;
  std::string ref;
};
// Reads a CSV file (csv.h) with the header "mr,ref". Errors are those of read_csv.
Result<std::vector<E2eRecord>> read_e2e(const std::string& path);

// Makes tokens of texts, with GPT-2's files in the dataset's folder or with the tokenizer that the
// options name. Errors are those of the readers.
struct E2eTokens {
  std::function<std::vector<std::int64_t>(std::string_view)> encode;
  std::vector<std::int64_t> before;
  std::int64_t end_of_text = 0;

  // The tokens before the answer's.
  std::vector<std::int64_t> prompt(const E2eRecord& record) const;
};
Result<E2eTokens> e2e_tokens(const json::object& options, const std::string& folder);

}  // namespace hyfreedp::datasets
