// RoBERTa's tokenizer against Hugging Face's (tests/data/text/roberta), and folders that have none.
#include "datasets/text/roberta_tokens.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "scratch.h"
#include "tests/datasets/tokenizer_cases.h"

namespace hyfreedp::datasets {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = std::string(HYFREEDP_TEST_DATA) + "/text/roberta/";

class RobertaTokensOf : public ::testing::TestWithParam<const char*> {};

TEST_P(RobertaTokensOf, TextsAndRowsAreHuggingFaces) {
  const auto tokenizer = load_tokenizer(kFolder + GetParam()).value();
  expect_texts(*tokenizer, kFolder + GetParam());
  expect_rows(*tokenizer, kFolder + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Blanks, RobertaTokensOf, ::testing::Values("plain", "with_blank"));

TEST(RobertaTokens, MarksInATextArePlainText) {
  auto tokens = RobertaTokens::load(kFolder + "plain").value();
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
    std::filesystem::copy_file(kFolder + "plain/" + file, folder + "/" + file);
  EXPECT_TRUE(load_tokenizer(folder));
  const auto before = tokenizer_checksum(folder).value();
  std::ofstream(folder + "/tokenizer_config.json") << R"({"tokenizer_class": "GPT2Tokenizer"})";
  EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr("is GPT2Tokenizer, and the vocabulary"));
  EXPECT_NE(tokenizer_checksum(folder).value(), before);
  std::filesystem::remove(folder + "/tokenizer_config.json");
  EXPECT_EQ(tokenizer_checksum(folder).value(), before);
  std::ofstream(folder + "/merges.txt", std::ios::app) << "h q\n";
  EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr("has no id"));
}

}  // namespace
}  // namespace hyfreedp::datasets
