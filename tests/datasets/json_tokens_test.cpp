// Byte-pair encoding as tokenizer.json describes it, against the package tokenizers
// (tests/data/text/tokenizer_json), and files of which something is not known.
#include "datasets/text/json_tokens.h"

#include <filesystem>
#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "scratch.h"
#include "tests/datasets/tokenizer_cases.h"

namespace hyfreedp::datasets {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = std::string(HYFREEDP_TEST_DATA) + "/text/tokenizer_json/";

class JsonTokensOf : public ::testing::TestWithParam<const char*> {};

TEST_P(JsonTokensOf, TextsAndRowsAreThoseOfTokenizers) {
  const auto tokenizer = load_tokenizer(kFolder + GetParam()).value();
  expect_texts(*tokenizer, kFolder + GetParam());
  expect_rows(*tokenizer, kFolder + GetParam());
  EXPECT_TRUE(tokenizer->marks().end);
  // The others have no symbol for some bytes.
  const auto lacks_bytes = GetParam() == std::string("unknown") || GetParam() == std::string("smollm");
  if (!lacks_bytes) expect_decoded(*tokenizer, kFolder + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Rules, JsonTokensOf,
                         ::testing::Values("smollm", "llama3", "qwen2", "unknown", "roberta", "llama",
                                           "mistral"));

class JsonFiles : public Scratch {
 protected:
  // The error of a folder's tokenizer.json with one of its members, by its path, replaced; "" where
  // there is none.
  std::string refused(const char* of, const std::string& pointer, const json::value& value) {
    auto file = read_json_file(kFolder + of + "/tokenizer.json").value();
    const auto last = pointer.rfind('/');
    auto& parent = file.at_pointer(pointer.substr(0, last));
    const auto key = pointer.substr(last + 1);
    if (parent.is_object()) {
      parent.get_object()[key] = value;
    } else {
      parent.get_array().at(std::stoul(key)) = value;
    }
    const auto folder = path("tokenizer");
    EXPECT_TRUE(write_file_atomically(folder + "/tokenizer.json", json::serialize(file)));
    EXPECT_TRUE(write_file_atomically(folder + "/tokenizer_config.json",
                                      read_file(kFolder + of + "/tokenizer_config.json").value()));
    const auto loaded = JsonTokens::load(folder);
    return loaded ? "" : loaded.error().message;
  }
};

TEST_F(JsonFiles, WhatIsNotKnownIsRefusedByItsName) {
  EXPECT_EQ(refused("smollm", "/truncation", nullptr), "");
  EXPECT_THAT(refused("smollm", "/stride", 1), HasSubstr("the key 'stride' is not known"));
  EXPECT_THAT(refused("smollm", "/model/type", "Unigram"), HasSubstr("a model of type 'Unigram'"));
  EXPECT_THAT(refused("smollm", "/model/dropout", 0.1), HasSubstr("'model.dropout: 0.1'"));
  EXPECT_THAT(refused("smollm", "/model/end_of_word_suffix", "</w>"), HasSubstr("'model.end_of_word_suffix"));
  EXPECT_THAT(refused("smollm", "/model/cache", 1), HasSubstr("'model.cache'"));
  EXPECT_THAT(refused("smollm", "/normalizer", {{"type", "NFC"}}),
              HasSubstr(R"(the normalizer {"type":"NFC"})"));
  EXPECT_THAT(refused("smollm", "/pre_tokenizer/pretokenizers/0", {{"type", "Punctuation"}}),
              HasSubstr(R"(the pre_tokenizer {"type":"Punctuation"})"));
  EXPECT_THAT(refused("smollm", "/pre_tokenizer/pretokenizers/0/behavior", "Isolated"),
              HasSubstr("'Digits.behavior'"));
  EXPECT_THAT(refused("smollm", "/pre_tokenizer/pretokenizers/1/add_prefix_space", true),
              HasSubstr("after another rule, the pre_tokenizer"));
  EXPECT_THAT(refused("smollm", "/pre_tokenizer", nullptr), HasSubstr("neither a pre_tokenizer ByteLevel"));
  EXPECT_THAT(refused("llama3", "/pre_tokenizer/pretokenizers/0/pattern/Regex", "x+"),
              HasSubstr(R"(the pre_tokenizer {"type":"Split","pattern":{"Regex":"x+"})"));
  EXPECT_THAT(refused("roberta", "/post_processor/type", "Custom"), HasSubstr("the post_processor"));
  EXPECT_THAT(refused("roberta", "/added_tokens/0/special", false),
              HasSubstr("added token '<s>' is not special"));
  EXPECT_THAT(refused("llama", "/normalizer/normalizers/1/content", "_"), HasSubstr("the normalizer"));
  EXPECT_THAT(refused("llama", "/normalizer/normalizers", json::array()), HasSubstr("replaces blanks"));
}

TEST_F(JsonFiles, BrokenOnesAreErrors) {
  EXPECT_THAT(refused("smollm", "/model/merges/0", "a"), HasSubstr("is not a pair of symbols"));
  EXPECT_THAT(refused("smollm", "/model/merges/0", "a \xe4\xb8\xad"),
              HasSubstr("is not a symbol of byte-pair"));
  EXPECT_THAT(refused("smollm", "/model/merges/0", "X Y"), HasSubstr("of the pair 'X Y' has no id"));
  EXPECT_THAT(refused("smollm", "/model/vocab/a", -1), HasSubstr("each once"));
  EXPECT_THAT(refused("smollm", "/model/vocab/a", 1 << 30), HasSubstr("each once"));
  EXPECT_THAT(refused("smollm", "/model/vocab/a", "x"), HasSubstr("'a' has no id"));
  EXPECT_THAT(refused("smollm", "/model/vocab", json::array()), HasSubstr("'model.vocab' is not an object"));
  EXPECT_THAT(refused("smollm", "/added_tokens/0/id", 5), HasSubstr("'<|end|>' has two ids"));
  EXPECT_THAT(refused("smollm", "/added_tokens", 1), HasSubstr("'added_tokens' are not"));
  EXPECT_THAT(refused("smollm", "/model/unk_token", "<none>"),
              HasSubstr("'model.unk_token: <none>' has no id"));
  EXPECT_THAT(refused("llama", "/added_tokens/0/content", "<other>"), HasSubstr("each once"));
}

// Without a name in tokenizer_config.json.
TEST_F(JsonFiles, PaddingIsAnIdOfTheVocabulary) {
  auto file = read_json_file(kFolder + "smollm/tokenizer.json").value().as_object();
  const auto folder = path("tokenizer");
  for (const auto& [id, message] :
       {std::pair<json::value, const char*>{nullptr, "must name an 'eos_token' or 'pad_token'"},
        {-1, "must name an 'eos_token' or 'pad_token'"},
        {1 << 20, "'padding.pad_id' is no id"}}) {
    file["padding"] = {{"pad_id", id}};
    ASSERT_TRUE(write_file_atomically(folder + "/tokenizer.json", json::serialize(file)));
    EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr(message)) << id;
  }
  file["padding"] = {{"pad_id", 3}};
  ASSERT_TRUE(write_file_atomically(folder + "/tokenizer.json", json::serialize(file)));
  const auto tokenizer = load_tokenizer(folder).value();
  EXPECT_EQ(tokenizer->marks().padding, 3);
  EXPECT_FALSE(tokenizer->marks().end);
}

TEST_F(JsonFiles, TheChecksumIsOfTheFilesThatAreRead) {
  const auto folder = path("tokenizer");
  const auto put = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder + "/" + name, text));
  };
  put("vocab.json", read_file(kFolder + "../roberta/plain/vocab.json").value());
  put("merges.txt", read_file(kFolder + "../roberta/plain/merges.txt").value());
  put("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})");
  const auto before = tokenizer_checksum(folder).value();
  put("tokenizer.json", "{}");
  EXPECT_TRUE(load_tokenizer(folder));  // RoBERTa's files go first
  EXPECT_EQ(tokenizer_checksum(folder).value(), before);
  put("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  const auto of_json = tokenizer_checksum(folder).value();
  EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr("tokenizer.json"));
  put("tokenizer.json", "{} ");
  EXPECT_NE(tokenizer_checksum(folder).value(), of_json);
}

}  // namespace
}  // namespace hyfreedp::datasets
