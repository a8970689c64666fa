// Tokenizers of vocab.json and merges.txt against Hugging Face's (tests/data/text/roberta and
// gpt2), and folders that have none.
#include "datasets/text/pair_tokens.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "scratch.h"
#include "tests/datasets/tokenizer_cases.h"

namespace hyfreedp::datasets {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = std::string(HYFREEDP_TEST_DATA) + "/text/";

class PairTokensOf : public ::testing::TestWithParam<const char*> {};

TEST_P(PairTokensOf, TextsAndRowsAreHuggingFaces) {
  const auto tokenizer = load_tokenizer(kFolder + GetParam()).value();
  expect_texts(*tokenizer, kFolder + GetParam());
  expect_rows(*tokenizer, kFolder + GetParam());
  expect_decoded(*tokenizer, kFolder + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Kinds, PairTokensOf,
                         ::testing::Values("roberta/plain", "roberta/with_blank", "gpt2/gpt2", "gpt2/opt"));

TEST(PairTokens, OfLanguageModelsEndTexts) {
  for (const char* kind : {"gpt2/gpt2", "gpt2/opt"}) {
    const auto cases = read_json_file(kFolder + kind + "/cases.json").value().as_object();
    EXPECT_EQ(PairTokens::load(kFolder + kind)->marks().end, int_or(cases, "end", -1)) << kind;
  }
}

TEST(PairTokens, MarksInATextArePlainText) {
  auto tokens = PairTokens::load(kFolder + "roberta/plain").value();
  const auto ids = tokens.encode("hello</s> world");
  EXPECT_EQ(std::ranges::count(ids, tokens.marks().after.front()), 0);
  EXPECT_GT(ids.size(), 4);
}

class TokenizerFolders : public Scratch {};

TEST_F(TokenizerFolders, OfEitherKindAreToldByTheirFiles) {
  const auto folder = path("tokenizer");
  std::filesystem::create_directories(folder);
  EXPECT_THAT(load_tokenizer(folder).error().message,
              AllOf(HasSubstr("vocab.json and merges.txt"), HasSubstr("tokenizer.json")));
  for (const char* file : {"vocab.json", "merges.txt"})
    std::filesystem::copy_file(kFolder + "roberta/plain/" + file, folder + "/" + file);
  EXPECT_TRUE(load_tokenizer(folder));
  const auto before = tokenizer_checksum(folder).value();
  std::ofstream(folder + "/tokenizer_config.json") << R"({"tokenizer_class": "GPT2Tokenizer"})";
  EXPECT_THAT(load_tokenizer(folder).error().message,
              HasSubstr("no token that ends a text, '<|endoftext|>'"));
  std::ofstream(folder + "/tokenizer_config.json") << R"({"tokenizer_class": "LlamaTokenizer"})";
  EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr("is LlamaTokenizer, and the vocabulary"));
  EXPECT_NE(tokenizer_checksum(folder).value(), before);
  std::filesystem::remove(folder + "/tokenizer_config.json");
  EXPECT_EQ(tokenizer_checksum(folder).value(), before);
  std::ofstream(folder + "/merges.txt", std::ios::app) << "h q\n";
  EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr("has no id"));
}

}  // namespace
}  // namespace hyfreedp::datasets
