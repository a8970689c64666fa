// SentencePiece's tokenizers against transformers' (tests/data/text/sentence_pieces), and folders
// and models of which something is wrong.
#include "datasets/text/sentence_pieces.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "scratch.h"
#include "tests/datasets/tokenizer_cases.h"

namespace hyfreedp::datasets {
namespace {

using models::Piece;
using models::PieceModel;
using ::testing::HasSubstr;

const std::string kFolder = std::string(HYFREEDP_TEST_DATA) + "/text/sentence_pieces/";

class SentencePiecesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(SentencePiecesOf, TextsAndRowsAreTransformers) {
  const auto folder = kFolder + GetParam();
  const auto tokenizer = load_tokenizer(folder).value();
  expect_texts(*tokenizer, folder);
  expect_rows(*tokenizer, folder);
  // The fast ones are read by tokenizer.json.
  if (std::filesystem::exists(folder + "/tokenizer.model")) {
    expect_decoded_texts(*tokenizer, folder);
  } else {
    expect_decoded(*tokenizer, folder);
  }
  const auto cases = read_json_file(folder + "/cases.json").value().as_object();
  EXPECT_EQ(tokenizer->vocabulary(), int_or(cases, "vocabulary", -1));
  EXPECT_EQ(tokenizer->marks().end, int_or(cases, "end", -1));
}

// Its object under a name that LibTorch exports, too, lies in neither library.
TEST(SentencePiecesBesideLibTorch, HaveAFlagOfTheirOwn) {
  void* flag = dlsym(RTLD_DEFAULT, "FLAGS_minloglevel");
  ASSERT_NE(flag, nullptr);
  Dl_info found;
  ASSERT_NE(dladdr(flag, &found), 0);
  const std::string library = found.dli_fname;
  EXPECT_EQ(library.find(".so"), std::string::npos) << library;
}

// The last two have tokenizer.json, as the fast tokenizer of the first two writes it.
INSTANTIATE_TEST_SUITE_P(Kinds, SentencePiecesOf,
                         ::testing::Values("llama", "llama_new", "llama_unigram", "t5", "t5_new", "gemma",
                                           "llama_fast", "llama_new_fast"));

PieceModel model_of(const std::string& kind) {
  const auto path = kFolder + kind + "/tokenizer.model";
  return models::parse_piece_model(read_file(path).value(), path).value();
}

// The error of a model that `change` has made wrong; "" where there is none.
std::string refused(const std::string& kind, const std::function<void(PieceModel&)>& change) {
  auto model = model_of(kind);
  change(model);
  const auto read = models::parse_piece_model(models::serialize_piece_model(model), "model");
  return read ? "" : read.error().message;
}

TEST(PieceModels, AreWrittenAsTheyWereRead) {
  for (const char* kind : {"llama", "llama_unigram", "t5_new", "gemma"}) {
    SCOPED_TRACE(kind);
    const auto model = model_of(kind);
    const auto again = models::parse_piece_model(models::serialize_piece_model(model), "model").value();
    EXPECT_EQ(again.kind, model.kind);
    EXPECT_EQ(again.byte_fallback, model.byte_fallback);
    EXPECT_EQ(again.character_map, model.character_map);
    EXPECT_EQ(again.add_blank, model.add_blank);
    EXPECT_EQ(again.blank_is_last, model.blank_is_last);
    EXPECT_EQ(again.merge_blanks, model.merge_blanks);
    EXPECT_EQ(again.escape_blanks, model.escape_blanks);
    ASSERT_EQ(again.pieces.size(), model.pieces.size());
    for (std::size_t id = 0; id < model.pieces.size(); ++id) {
      EXPECT_EQ(again.pieces[id].text, model.pieces[id].text);
      EXPECT_EQ(again.pieces[id].score, model.pieces[id].score);
      EXPECT_EQ(again.pieces[id].kind, model.pieces[id].kind);
    }
  }
  EXPECT_EQ(model_of("llama").kind, PieceModel::Kind::pairs);
  EXPECT_TRUE(model_of("llama").byte_fallback);
  EXPECT_FALSE(model_of("gemma").add_blank);
  EXPECT_TRUE(model_of("t5_new").blank_is_last);
  EXPECT_FALSE(model_of("t5").character_map.empty());
}

TEST(PieceModels, ThatTheLibraryCannotBeTrustedWithAreRefused) {
  EXPECT_EQ(refused("llama", [](PieceModel&) {}), "");
  const auto piece = [](const char* kind, const Piece& added) {
    return refused(kind, [&](PieceModel& model) { model.pieces.push_back(added); });
  };
  EXPECT_THAT(piece("llama", {.text = ""}), HasSubstr("is empty"));
  EXPECT_THAT(piece("llama", {.text = std::string(1025, 'a')}), HasSubstr("longer than 1,024"));
  EXPECT_THAT(piece("llama", {.text = std::string("a\0b", 3)}), HasSubstr("has a NUL"));
  EXPECT_THAT(piece("llama", {.text = "\xff"}), HasSubstr("is not UTF-8"));
  EXPECT_THAT(piece("llama", {.text = "new", .score = NAN}), HasSubstr("no finite score"));
  EXPECT_THAT(piece("llama", {.text = "a"}), HasSubstr("'a', is there twice"));
  // Texts would become marks.
  EXPECT_THAT(piece("llama", {.text = "</s>", .kind = Piece::Kind::user_defined}), HasSubstr("there twice"));
  EXPECT_THAT(piece("llama", {.text = "\xe2\x82\xac", .kind = Piece::Kind::control}),
              HasSubstr("a mark of one character"));
  EXPECT_EQ(piece("t5", {.text = "\xe2\x82\xac", .kind = Piece::Kind::control}), "");
  EXPECT_THAT(piece("llama", {.text = "<0x0a>", .kind = Piece::Kind::byte}), HasSubstr("is no byte"));
  EXPECT_THAT(piece("llama", {.text = "<other>", .kind = Piece::Kind::unknown}),
              HasSubstr("what is unknown"));
  EXPECT_THAT(piece("t5", {.text = "<0x0A>", .kind = Piece::Kind::byte}), HasSubstr("all 256 bytes"));
  EXPECT_THAT(refused("llama", [](PieceModel& model) { model.pieces[3].text = "no byte"; }),
              HasSubstr("is no byte"));
  EXPECT_THAT(refused("llama", [](PieceModel& model) { model.pieces.erase(model.pieces.begin() + 3); }),
              HasSubstr("all 256 bytes"));
  EXPECT_THAT(refused("llama", [](PieceModel& model) { model.pieces.clear(); }), HasSubstr("no model"));
  EXPECT_THAT(refused("t5", [](PieceModel& model) { model.pieces.resize(3); }),
              HasSubstr("no pieces that texts are made of"));
  EXPECT_THAT(refused("llama", [](PieceModel& model) { model.kind = static_cast<PieceModel::Kind>(3); }),
              HasSubstr("'model_type' is 3"));
  const auto nested = [](std::size_t count) {
    return refused("t5", [&](PieceModel& model) {
      for (std::size_t i = 1; i <= count; ++i)
        model.pieces.push_back({.text = std::string(i, '@'), .kind = Piece::Kind::user_defined});
    });
  };
  EXPECT_EQ(nested(64), "");
  EXPECT_THAT(nested(65), HasSubstr("begin one another"));
}

TEST(PieceModels, DamagedBytesAreRefused) {
  const auto good = read_file(kFolder + "t5/tokenizer.model").value();
  const auto read = [](const std::string& bytes) {
    return models::parse_piece_model(bytes, "model").has_value();
  };
  EXPECT_TRUE(read(good));
  // Pieces come first, so that a part of the file is a model where it ends between two of them; the
  // rest of it is not.
  std::size_t parts = 0;
  for (std::size_t size = 0; size < good.size(); ++size) parts += read(good.substr(0, size)) ? 1 : 0;
  EXPECT_LT(parts, good.size() / 8);
  EXPECT_FALSE(read("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));  // a length beyond all
  EXPECT_FALSE(read("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_FALSE(read(good + "\x08\x01"));  // pieces as a number
  EXPECT_FALSE(read("{}"));
}

// The table of characters with a cell of its trie changed.
TEST(PieceModels, TablesOfCharactersThatLeadAstrayAreRefused) {
  const auto with = [](std::size_t at, std::uint32_t cell) {
    return refused("t5", [&](PieceModel& model) {
      ASSERT_LE(4 * at + 8, model.character_map.size());
      std::memcpy(model.character_map.data() + 4 + 4 * at, &cell, sizeof cell);
    });
  };
  const auto model = model_of("t5");
  const auto cell = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, model.character_map.data() + 4 + 4 * at, sizeof value);
    return value;
  };
  const auto offset = [](std::uint32_t value) { return (value >> 10) << ((value & 0x200U) >> 6); };
  ASSERT_EQ(with(0, cell(0)), "");
  EXPECT_THAT(with(0, 0xFFFFFC00U), HasSubstr("is damaged"));  // far outside
  // The rules of one byte are from the first base on: the tab's leads to itself, ...
  const auto tab = offset(cell(0)) ^ '\t';
  ASSERT_EQ(cell(tab) & 0xFFU, static_cast<std::uint32_t>('\t'));
  ASSERT_TRUE(cell(tab) & 0x100U);
  const auto back = tab ^ offset(cell(0));
  ASSERT_LT(back, 1U << 21);
  EXPECT_THAT(with(tab, (back << 10) | '\t'), HasSubstr("is damaged"));
  // ... or outside, or to no text.
  EXPECT_THAT(with(tab, 0x7FFFFC00U | 0x100U | '\t'), HasSubstr("is damaged"));
  EXPECT_THAT(with(tab ^ offset(cell(tab)), 0x80FFFFFFU), HasSubstr("is damaged"));
  const auto size = [](std::uint32_t bytes) {
    return refused(
        "t5", [&](PieceModel& changed) { std::memcpy(changed.character_map.data(), &bytes, sizeof bytes); });
  };
  for (const std::uint32_t bytes : {0U, 2U, 4U, 1020U, 0xFFFFFFFCU})
    EXPECT_THAT(size(bytes), HasSubstr("is damaged")) << bytes;
  EXPECT_THAT(refused("t5", [](PieceModel& changed) { changed.character_map.back() = 'x'; }),
              HasSubstr("is damaged"));
  EXPECT_THAT(refused("t5", [](PieceModel& changed) { changed.character_map.resize(3); }),
              HasSubstr("is damaged"));
}

class PieceFolders : public Scratch {
 protected:
  // The error of a folder with the model of `kind` and this tokenizer_config.json; "" for none.
  std::string refused_folder(const std::string& kind, const json::object& config) {
    const auto folder = path("tokenizer");
    EXPECT_TRUE(write_file_atomically(folder + "/tokenizer.model",
                                      read_file(kFolder + kind + "/tokenizer.model").value()));
    EXPECT_TRUE(write_file_atomically(folder + "/tokenizer_config.json", json::serialize(config)));
    const auto loaded = load_tokenizer(folder);
    return loaded ? "" : loaded.error().message;
  }
};

TEST_F(PieceFolders, WhatIsNotKnownIsRefusedByItsName) {
  EXPECT_EQ(refused_folder("llama", {}), "");
  EXPECT_EQ(refused_folder("llama", {{"tokenizer_class", "LlamaTokenizerFast"}}), "");
  EXPECT_THAT(refused_folder("llama", {{"tokenizer_class", "XLNetTokenizer"}}), HasSubstr("XLNetTokenizer"));
  EXPECT_THAT(refused_folder("llama", {{"eos_token", "<none>"}}), HasSubstr("'eos_token' is no piece"));
  EXPECT_THAT(refused_folder("llama", {{"bos_token", "<none>"}}), HasSubstr("'bos_token' is no piece"));
  EXPECT_THAT(refused_folder("llama", {{"sp_model_kwargs", {{"alpha", 0.1}}}}), HasSubstr("sp_model_kwargs"));
  const auto added = [&](const char* id, const char* content, bool special) {
    return refused_folder("llama", {{"added_tokens_decoder",
                                     {{id, json::object{{"content", content}, {"special", special}}}}}});
  };
  EXPECT_EQ(added("600", "[PAD]", true), "");
  EXPECT_EQ(added("1", "<s>", true), "");
  EXPECT_THAT(added("600", "[PAD]", false), HasSubstr("'[PAD]' is not special"));
  EXPECT_THAT(added("1", "[PAD]", true), HasSubstr("has the id of another piece"));
  EXPECT_THAT(added("600", "<s>", true), HasSubstr("with another id"));
  for (const char* id : {"x", "-1", "1x", "99999999999999999999", "1000000000000"})
    EXPECT_THAT(added(id, "[PAD]", true), HasSubstr("has no id")) << id;
}

TEST_F(PieceFolders, TheFirstOfTheirFilesDecides) {
  ASSERT_EQ(refused_folder("llama", {}), "");
  const auto folder = path("tokenizer");
  const auto before = tokenizer_checksum(folder).value();
  ASSERT_TRUE(write_file_atomically(folder + "/added_tokens.json", R"({"[PAD]": 600})"));
  EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr("added_tokens.json"));
  ASSERT_TRUE(write_file_atomically(folder + "/tokenizer.json", R"({"model": {"type": "Unigram"}})"));
  EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr("Without this file, tokenizer.model"));
  EXPECT_NE(tokenizer_checksum(folder).value(), before);
  const auto fast = kFolder + "llama_fast/tokenizer.json";
  ASSERT_TRUE(write_file_atomically(folder + "/tokenizer.json", read_file(fast).value()));
  ASSERT_TRUE(write_file_atomically(folder + "/tokenizer_config.json", R"({"eos_token": "</s>"})"));
  EXPECT_TRUE(load_tokenizer(folder));
  const auto of_json = tokenizer_checksum(folder).value();
  ASSERT_TRUE(write_file_atomically(folder + "/tokenizer.model", "damaged"));
  EXPECT_EQ(tokenizer_checksum(folder).value(), of_json);
  std::filesystem::remove(folder + "/tokenizer.json");
  std::filesystem::remove(folder + "/added_tokens.json");
  EXPECT_THAT(load_tokenizer(folder).error().message, HasSubstr("tokenizer.model: is no model"));
}

}  // namespace
}  // namespace hyfreedp::datasets
