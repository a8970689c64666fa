// WordPiece against Hugging Face's tokenizer (tests/data/text/word_pieces), and vocabularies that
// are none.
#include "datasets/text/word_pieces.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch.h"
#include "tests/datasets/tokenizer_cases.h"

namespace hyfreedp::datasets {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = std::string(HYFREEDP_TEST_DATA) + "/text/word_pieces/";

class WordPiecesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(WordPiecesOf, TextsAndRowsAreHuggingFaces) {
  const auto tokenizer = load_tokenizer(kFolder + GetParam()).value();
  expect_texts(*tokenizer, kFolder + GetParam());
  expect_rows(*tokenizer, kFolder + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, WordPiecesOf, ::testing::Values("uncased", "cased"));

TEST(WordPieces, MarksInATextArePlainText) {
  auto pieces = WordPieces::load(kFolder + "uncased").value();
  const auto ids = pieces.encode("hello [SEP] world");
  EXPECT_EQ(std::ranges::count(ids, pieces.marks().after.front()), 0);
  EXPECT_EQ(ids.size(), 5);
}

class WordPiecesFiles : public Scratch {};

TEST_F(WordPiecesFiles, ThatAreNoneAreNamed) {
  const auto folder = path("tokenizer");
  std::filesystem::create_directories(folder);
  EXPECT_THAT(WordPieces::load(folder).error().message, HasSubstr("vocab.txt"));
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
  };
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\nhello\n");
  EXPECT_THAT(WordPieces::load(folder).error().message, HasSubstr("has no '[SEP]'"));
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\nhello\n");
  EXPECT_THAT(WordPieces::load(folder).error().message, HasSubstr("vocab.txt:6: 'hello' is there twice"));
  write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\n");
  EXPECT_TRUE(WordPieces::load(folder));
  const auto before = tokenizer_checksum(folder).value();
  write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})");
  EXPECT_THAT(WordPieces::load(folder).error().message,
              HasSubstr("RobertaTokenizer, and the vocabulary beside it is of BertTokenizer"));
  EXPECT_NE(tokenizer_checksum(folder).value(), before);
  for (const char* config : {R"({"do_lower_case": "yes"})", R"({"strip_accents": 1})",
                             R"({"tokenize_chinese_chars": []})", R"({"tokenizer_class": 1})"}) {
    write("tokenizer_config.json", config);
    EXPECT_THAT(WordPieces::load(folder).error().message, HasSubstr("must be")) << config;
  }
  write("tokenizer_config.json", R"({"do_lower_case": null, "tokenizer_class": null})");
  EXPECT_TRUE(WordPieces::load(folder));
}

}  // namespace
}  // namespace hyfreedp::datasets
