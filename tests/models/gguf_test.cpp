// GGUF files against the package gguf and transformers (tests/data/gguf), and files that lie.
#include "harness/models/files/gguf.h"

#include <filesystem>
#include <gmock/gmock.h>

#include "datasets/text/tokenizer.h"
#include "harness/base/files.h"
#include "harness/models/facts/named_files.h"
#include "harness/models/files/gguf_folder.h"
#include "harness/models/files/gguf_tokenizer.h"
#include "harness/models/files/piece_model.h"
#include "harness/models/model.h"
#include "tests/datasets/tokenizer_cases.h"
#include "tests/models/compare.h"

namespace hyfreedp::models {
namespace gguf_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kFolder = std::string(HYFREEDP_TEST_DATA) + "/gguf/";

const json::object& expected() {
  static const auto all = read_json_file(kFolder + "expected.json").value().as_object();
  return all;
}

SharedBytes bytes_of(const std::string& name) { return owned_bytes(read_file(kFolder + name).value()); }

// The error of a file's bytes; "" where there is none.
std::string refused(const std::string& bytes) {
  const auto read = parse_gguf(owned_bytes(bytes), "file");
  return read ? "" : read.error().message;
}

// The file with what follows the first `name` in it, `skip` bytes further on, overwritten.
template <class T>
std::string with(std::string bytes, const std::string& name, std::size_t skip, T value) {
  const auto at = bytes.find(name) + name.size() + skip;
  return bytes.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
}

class GgufFolder : public ::testing::Test {
 protected:
  GgufFolder() { fs::create_directories(folder_); }
  ~GgufFolder() override { fs::remove_all(folder_); }

  // The error of the file's conversion; "" where there is none.
  std::string converted(const std::string& bytes) const {
    const auto file = folder_ + "/model.gguf";
    EXPECT_TRUE(write_file_atomically(file, bytes));
    const auto done = write_folder_of_gguf(file, folder_);
    return done ? "" : done.error().message;
  }

  const std::string folder_ = testing::TempDir() + "/gguf-" + std::to_string(::getpid());
};

TEST(Gguf, NumbersOfEachTypeAreThoseOfItsPackage) {
  const auto file = parse_gguf(bytes_of("types.gguf"), "file").value();
  for (const auto& [name, numbers] : expected().at("types").as_object()) {
    SCOPED_TRACE(name);
    const auto stored = numbers_of(file.tensors.at(name));
    EXPECT_EQ(stored.shape, (std::vector<std::int64_t>{2, 64}));
    const auto wanted = from_json<std::vector<double>>(numbers, "").value();
    const auto values = aligned(stored);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      std::uint32_t bits = 0;
      if (stored.type == ElementType::kF32) {
        std::memcpy(&bits, values.bytes.data() + 4 * i, 4);
        EXPECT_EQ(std::bit_cast<float>(bits), static_cast<float>(wanted[i])) << i;
      } else {
        std::memcpy(&bits, values.bytes.data() + 2 * i, 2);
        const auto half = static_cast<std::uint16_t>(bits);
        const double value = stored.type == ElementType::kF16
                                 ? static_cast<double>(c10::Half(half, c10::Half::from_bits()))
                                 : static_cast<double>(c10::BFloat16(half, c10::BFloat16::from_bits()));
        EXPECT_EQ(value, wanted[i]) << i;
      }
    }
  }
  EXPECT_EQ(file.tensors.size(), 6U);
}

TEST(Gguf, ValuesOfEachTypeAreRead) {
  const auto values = parse_gguf(bytes_of("types.gguf"), "file").value().values;
  const json::object wanted{{"a.uint8", 200},
                            {"a.int8", -3},
                            {"a.uint16", 60000},
                            {"a.int16", -300},
                            {"a.uint32", 4000000000},
                            {"a.int32", -70000},
                            {"a.float32", static_cast<double>(0.1F)},
                            {"a.bool", true},
                            {"a.uint64", (std::uint64_t{1} << 63) + 1},
                            {"a.int64", -(std::int64_t{1} << 62)},
                            {"a.float64", 0.1},
                            {"a.string", "a\n\xc3\xa9"},
                            {"a.array", {1, 2, 3}},
                            {"a.texts", {"x", "", "yz"}}};
  for (const auto& item : wanted) EXPECT_EQ(values.at(item.key()), item.value()) << item.key();
}

TEST(Gguf, LiesAreRefused) {
  const auto good = read_file(kFolder + "types.gguf").value();
  EXPECT_EQ(refused(good), "");
  EXPECT_EQ(refused(with(good, "GGUF", 0, std::uint32_t{2})), "");
  EXPECT_THAT(refused("GGML" + good.substr(4)), HasSubstr("not a GGUF file"));
  for (const std::uint32_t version : {0U, 1U, 4U, 0x03000000U})
    EXPECT_THAT(refused(with(good, "GGUF", 0, version)), HasSubstr("its version is"));
  for (const std::uint64_t many : {std::uint64_t{1000}, UINT64_MAX}) {
    EXPECT_NE(refused(with(good, "GGUF", 4, many)), "");
    EXPECT_NE(refused(with(good, "GGUF", 12, many)), "");
    // Lengths of a text, of a list and of its items' texts.
    EXPECT_NE(refused(with(good, "a.string", 4, many)), "") << many;
    EXPECT_NE(refused(with(good, "a.array", 8, many)), "") << many;
    EXPECT_NE(refused(with(good, "a.texts", 16, many)), "") << many;
  }
  EXPECT_THAT(refused(with(good, "a.int8", 0, std::uint32_t{99})), HasSubstr("'a.int8' has an unknown type"));
  EXPECT_THAT(refused(with(good, "a.array", 4, std::uint32_t{9})),
              HasSubstr("'a.array' has an unknown type"));
  EXPECT_THAT(refused(with(good, "a.strin", 0, '\xff')), HasSubstr("not UTF-8"));
  // A tensor's sizes, type and offset.
  EXPECT_THAT(refused(with(good, "Q8_0", 0, std::uint32_t{0})), HasSubstr("'Q8_0' has 0 sizes"));
  EXPECT_THAT(refused(with(good, "Q8_0", 0, std::uint32_t{5})), HasSubstr("'Q8_0' has 5 sizes"));
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1} << 62, UINT64_MAX})
    EXPECT_THAT(refused(with(good, "Q8_0", 12, size)), HasSubstr("'Q8_0' has a size that cannot be"));
  EXPECT_THAT(refused(with(good, "Q8_0", 4, std::uint64_t{33})), HasSubstr("rows of 33 numbers"));
  EXPECT_THAT(refused(with(good, "Q8_0", 12, std::uint64_t{200})), HasSubstr("lies outside the file"));
  EXPECT_THAT(refused(with(good, "Q8_0", 20, std::uint32_t{12})), HasSubstr("'Q8_0' has the type 12, which"));
  for (const std::uint64_t offset : {std::uint64_t{8}, std::uint64_t{1} << 40, UINT64_MAX - 31})
    EXPECT_THAT(refused(with(good, "Q8_0", 24, offset)), HasSubstr("lies outside the file")) << offset;
  // 30 rows where all data begin.
  EXPECT_THAT(refused(with(with(good, "Q4_0", 12, std::uint64_t{30}), "Q4_0", 24, std::uint64_t{0})),
              HasSubstr("'Q4_0' lies outside the file or on others"));
  // The last tensor is followed by 16 bytes that fill the alignment.
  for (std::size_t size = 0; size < good.size() - 16; ++size)
    EXPECT_NE(refused(good.substr(0, size)), "") << size;
}

TEST_F(GgufFolder, ALlamaGivesTransformersLogitsAndItsTokenizersIds) {
  ASSERT_EQ(converted(read_file(kFolder + "llama.gguf").value()), "");
  const auto options =
      complete_options(
          resolve_options(find_model("llama").value()->options, {{"weights", folder_}}, "llama").value())
          .value();
  const auto tokenizer = datasets::load_tokenizer(folder_).value();
  const auto vocabulary = tokenizer->vocabulary();
  const ModelInput input{.features = 6, .classes = vocabulary, .length = 6, .vocabulary = vocabulary};
  const auto network =
      make_model("llama", options, input, random::key_from_seed("gguf"), torch::kFloat64).value();
  const auto ids = from_json<std::vector<std::vector<std::int64_t>>>(expected().at("ids"), "").value();
  const auto logits = from_json<std::vector<std::vector<double>>>(expected().at("last_logits"), "").value();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto given = network.forward(torch::tensor(ids[i]).view({1, 6}));
    EXPECT_TRUE(near_relative(given[0][5], torch::tensor(logits[i], torch::kFloat64), 1e-6)) << i;
  }
  datasets::expect_texts(*tokenizer, std::string(HYFREEDP_TEST_DATA) + "/text/tokenizer_json/smollm");
  const auto& marks = tokenizer->marks();
  EXPECT_EQ(marks.before, (std::vector<std::int64_t>{1}));  // add_bos_token
  EXPECT_EQ(marks.end, 0);
}

// "</s>", or an object with it.
std::string token_of(const json::value& value) {
  return std::string((value.is_object() ? value.at("content") : value).as_string());
}

// The values of a GGUF file that llama.cpp's converter makes of a tokenizer.json of pairs of bytes.
GgufFile values_of_pairs(const std::string& folder, const char* pre) {
  const auto described = read_json_file(folder + "/tokenizer.json").value();
  const auto& model = described.at("model").as_object();
  json::array tokens(model.at("vocab").as_object().size()), types(tokens.size(), 1), merges;
  for (const auto& item : model.at("vocab").as_object()) tokens[item.value().as_int64()] = item.key();
  for (const auto& item : described.at("added_tokens").as_array()) types[item.at("id").as_int64()] = 3;
  for (const auto& pair : model.at("merges").as_array())
    merges.push_back(
        json::string(std::string(pair.at(0).as_string()) + " " + std::string(pair.at(1).as_string())));
  const auto config = read_json_file(folder + "/tokenizer_config.json").value();
  const auto end = token_of(config.at("eos_token"));
  return {.values = {{"tokenizer.ggml.model", "gpt2"},
                     {"tokenizer.ggml.pre", pre},
                     {"tokenizer.ggml.tokens", tokens},
                     {"tokenizer.ggml.token_type", types},
                     {"tokenizer.ggml.merges", merges},
                     {"tokenizer.ggml.bos_token_id", model.at("vocab").at("<s>")},
                     {"tokenizer.ggml.eos_token_id", model.at("vocab").at(end)}}};
}

// The values of a tokenizer.model of SentencePiece's pairs.
GgufFile values_of_pieces(const std::string& path) {
  const auto model = parse_piece_model(read_file(path).value(), path).value();
  json::array tokens, types, scores;
  for (const auto& piece : model.pieces) {
    tokens.push_back(json::string(piece.text));
    types.push_back(static_cast<int>(piece.kind));
    scores.push_back(piece.score);
  }
  return {.values = {{"tokenizer.ggml.model", "llama"},
                     {"tokenizer.ggml.tokens", tokens},
                     {"tokenizer.ggml.token_type", types},
                     {"tokenizer.ggml.scores", scores},
                     {"tokenizer.ggml.bos_token_id", 1},
                     {"tokenizer.ggml.eos_token_id", 2},
                     {"tokenizer.ggml.unknown_token_id", 0}}};
}

class GgufTokenizer : public GgufFolder {
 protected:
  std::unique_ptr<datasets::Tokenizer> made(const GgufFile& file) const {
    const auto files = tokenizer_files_of(file, "file").value();
    for (const auto& [name, content] : files) write_file_atomically(folder_ + "/" + name, content).value();
    return datasets::load_tokenizer(folder_).value();
  }
  static std::string refused(const GgufFile& file) {
    const auto files = tokenizer_files_of(file, "file");
    return files ? "" : files.error().message;
  }
  const std::string texts_ = std::string(HYFREEDP_TEST_DATA) + "/text/";
};

TEST_F(GgufTokenizer, CutsAsItsPreSays) {
  for (const auto& [kind, pre] :
       {std::pair{"llama3", "llama-bpe"}, std::pair{"qwen2", "qwen2"}, std::pair{"qwen2", "megrez"}}) {
    SCOPED_TRACE(pre);
    const auto folder = texts_ + "tokenizer_json/" + kind;
    const auto tokenizer = made(values_of_pairs(folder, pre));
    datasets::expect_texts(*tokenizer, folder);
    if (kind == std::string("llama3")) datasets::expect_rows(*tokenizer, folder);
    EXPECT_EQ(tokenizer->marks().before.size(), kind == std::string("llama3") ? 1U : 0U);
    // Digits are joined by no pair of these vocabularies.
    const auto pattern = [](const std::string& in) {
      return read_json_file(in + "/tokenizer.json")
          .value()
          .at_pointer("/pre_tokenizer/pretokenizers/0/pattern");
    };
    EXPECT_EQ(pattern(folder_), pattern(folder));
  }
}

TEST_F(GgufTokenizer, OfSentencePieceGivesTransformersIds) {
  const auto folder = texts_ + "sentence_pieces/llama";
  const auto tokenizer = made(values_of_pieces(folder + "/tokenizer.model"));
  datasets::expect_texts(*tokenizer, folder);
  datasets::expect_rows(*tokenizer, folder);
  EXPECT_FALSE(fs::exists(folder_ + "/tokenizer.json"));
}

TEST_F(GgufTokenizer, ThatLiesIsRefused) {
  const auto good = values_of_pieces(texts_ + "sentence_pieces/llama/tokenizer.model");
  ASSERT_EQ(refused(good), "");
  const auto with = [&](const char* name, const json::value& value) {
    auto file = good;
    file.values[std::string("tokenizer.ggml.") + name] = value;
    return refused(file);
  };
  EXPECT_THAT(with("model", "t5"), HasSubstr("a tokenizer 't5' is not known"));
  EXPECT_THAT(with("model", 1), HasSubstr("must be text"));
  EXPECT_THAT(with("tokens", 1), HasSubstr("'tokenizer.ggml.tokens' is not a list"));
  EXPECT_THAT(with("scores", json::array{0.5}), HasSubstr("'tokenizer.ggml.scores' has not as many items"));
  EXPECT_THAT(with("token_type", nullptr), HasSubstr("'tokenizer.ggml.token_type' has not as many items"));
  auto file = good;
  file.values["tokenizer.ggml.tokens"].as_array()[5] = 1;
  EXPECT_THAT(refused(file), HasSubstr("is not a list of texts"));
  file = good;
  file.values["tokenizer.ggml.scores"].as_array()[5] = "nan";
  EXPECT_THAT(refused(file), HasSubstr("no finite score"));
  file = good;
  file.values["tokenizer.ggml.token_type"].as_array()[5] = 7;
  EXPECT_THAT(refused(file), HasSubstr("not 0 to 6"));
  file = good;
  file.values["tokenizer.ggml.token_type"].as_array()[5] = 1;  // a byte less
  EXPECT_THAT(refused(file), HasSubstr("all 256 bytes"));
}

TEST_F(GgufFolder, WhatIsNotKnownIsRefusedByItsName) {
  const auto good = read_file(kFolder + "llama.gguf").value();
  const auto renamed = [&](const std::string& from, const std::string& to) {
    auto bytes = good;
    for (auto at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + 1))
      bytes.replace(at, from.size(), to);
    return converted(bytes);
  };
  EXPECT_THAT(converted(with(good, "general.architecture", 12, 'L')),
              HasSubstr(R"(its architecture is "Llama")"));
  EXPECT_THAT(renamed("llama.rope.freq_base", "llama.rope.freq_bias"),
              HasSubstr("the value 'llama.rope.freq_bias' is not known"));
  EXPECT_THAT(renamed("blk.1.attn_v.weight", "blk.1.attn_w.weight"),
              HasSubstr("the tensor 'blk.1.attn_w.weight' is not known"));
  EXPECT_THAT(renamed("blk.1.attn_v.weight", "blk.x.attn_v.weight"), HasSubstr("'blk.x.attn_v.weight'"));
  EXPECT_THAT(renamed("smollm", "falcon"), HasSubstr("'falcon' is not known"));
  EXPECT_THAT(renamed("gpt2", "bert"), HasSubstr("a tokenizer 'bert' is not known"));
  EXPECT_THAT(converted(with(good, "llama.attention.head_count", 4, std::uint32_t{0})),
              HasSubstr("cannot be 0"));
  EXPECT_THAT(converted(with(good, "llama.attention.head_count", 4, std::uint32_t{2})),
              HasSubstr("'llama.rope.dimension_count' is 8, and the heads are 16 wide"));
  EXPECT_THAT(converted(with(good, "llama.attention.head_count_kv", 4, std::uint32_t{4})),
              HasSubstr("'blk.0.attn_k.weight' has 16 rows"));
  EXPECT_FALSE(fs::exists(folder_ + "/config.json"));
}

}  // namespace gguf_test
}  // namespace hyfreedp::models
