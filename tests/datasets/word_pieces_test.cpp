// WordPiece against Hugging Face's tokenizer (tests/data/text/word_pieces), and vocabularies that
// are none.
#include "datasets/text/word_pieces.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/describe.h"
#include "harness/base/json.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = std::string(HYFREEDP_TEST_DATA) + "/text/word_pieces/";

std::vector<std::int64_t> ids_of(const json::object& one) {
  return from_json<std::vector<std::int64_t>>(one.at("ids"), "ids").value();
}

class WordPiecesOf : public ::testing::TestWithParam<const char*> {
 protected:
  WordPieces pieces = WordPieces::load(kFolder + GetParam()).value();
  json::object reference = read_json_file(kFolder + GetParam() + "/cases.json").value().as_object();
};

TEST_P(WordPiecesOf, ATextAreHuggingFaces) {
  for (int again = 0; again < 2; ++again) {  // words are remembered
    for (const auto& one : reference.at("cases").as_array()) {
      const auto& item = one.as_object();
      EXPECT_EQ(pieces.encode(string_or(item, "text", "")), ids_of(item)) << canonical_json(item.at("text"));
    }
  }
}

TEST_P(WordPiecesOf, ARowAreHuggingFaces) {
  for (const auto& one : reference.at("rows").as_array()) {
    const auto& item = one.as_object();
    const auto expected = ids_of(item);
    std::vector<std::int64_t> row(expected.size(), -1);
    const auto second = string_or(item, "second", "");
    const std::string_view view(second);
    pieces.fill_row(string_or(item, "text", ""), item.contains("second") ? &view : nullptr, row);
    EXPECT_EQ(row, expected) << canonical_json(item.at("text"));
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, WordPiecesOf, ::testing::Values("uncased", "cased"));

TEST(WordPieces, MarksInATextArePlainText) {
  auto pieces = WordPieces::load(kFolder + "uncased").value();
  const auto ids = pieces.encode("hello [SEP] world");
  EXPECT_EQ(std::ranges::count(ids, pieces.separator()), 0);
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
  EXPECT_THAT(WordPieces::load(folder).error().message, HasSubstr("RobertaTokenizer"));
  EXPECT_NE(tokenizer_checksum(folder).value(), before);
}

}  // namespace
}  // namespace hyfreedp::datasets
