// GPT-2's tokenizer against vectors of three other implementations (tokenizer.json of the reference
// set), and the E2E files.
#include "datasets/text/byte_pairs.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "datasets/dataset.h"
#include "datasets/e2e.h"
#include "datasets/text/tokenizer.h"
#include "harness/base/files.h"
#include "harness/base/json.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string data_folder() {
  const char* data = std::getenv("HYFREEDP_DATA");
  return data != nullptr ? data : "";
}

bool has_tokenizer() {
  return !data_folder().empty() && fs::exists(data_folder() + "/gpt2/encoder.json") &&
         fs::exists(data_folder() + "/gpt2/vocab.bpe");
}

BytePairs tokenizer() {
  return BytePairs::load(data_folder() + "/gpt2/encoder.json", data_folder() + "/gpt2/vocab.bpe",
                         {"<|endoftext|>"})
      .value();
}

Words words_of(const std::string& text, const std::vector<Cut>& cuts) {
  Words words;
  for_words(text, cuts, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}
Words gpt2_words(const std::string& text) { return words_of(text, {Cut::gpt2}); }

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::vector<std::int64_t> ids_of(const json::value& list) {
  std::vector<std::int64_t> ids;
  for (const auto& id : list.as_array()) ids.push_back(id.to_number<std::int64_t>());
  return ids;
}

TEST(BytePairs, TheTextIsCutAsGpt2sPatternDoes) {
  EXPECT_EQ(gpt2_words("Hello there, it's  12 o'clock"),
            (Words{"Hello", " there", ",", " it", "'s", " ", " 12", " o", "'", "clock"}));
  EXPECT_EQ(gpt2_words("a \n\n b "), (Words{"a", " \n\n", " b", " "}));
  EXPECT_EQ(gpt2_words("\tx"), (Words{"\t", "x"}));
  EXPECT_EQ(gpt2_words("a  "), (Words{"a", "  "}));
  EXPECT_EQ(gpt2_words(" 'll 'S"), (Words{" '", "ll", " '", "S"}));
  EXPECT_EQ(gpt2_words("caf\xc3\xa9\xc2\xa0\xff!"), (Words{"caf\xc3\xa9", "\xc2\xa0", "\xff!"}));
  EXPECT_EQ(gpt2_words(""), Words{});
}

// As the package tokenizers 0.22.1 cuts them.
TEST(BytePairs, TheTextIsCutAsLaterPatternsDo) {
  const std::string text =
      "IT'Sx it'\xc5\xbf"
      "a  12345?!\n\n \t\r\n  b\n";
  EXPECT_EQ(words_of(text, {Cut::llama3}), (Words{"IT", "'S", "x", " it", "'\xc5\xbf", "a", " ", " ", "123",
                                                  "45", "?!\n\n", " \t\r\n", " ", " b", "\n"}));
  EXPECT_EQ(words_of("a 12 3", {Cut::qwen2}), (Words{"a", " ", "1", "2", " ", "3"}));
  EXPECT_EQ(words_of("a  1x12", {Cut::digit, Cut::gpt2}), (Words{"a", "  ", "1", "x", "1", "2"}));
  EXPECT_EQ(words_of("a12  3", {Cut::digits}), (Words{"a", "12", "  ", "3"}));
  EXPECT_EQ(words_of("a\xe2\x96\x81\xe2\x96\x81"
                     "b",
                     {Cut::metaspace}),
            (Words{"a", "\xe2\x96\x81",
                   "\xe2\x96\x81"
                   "b"}));
}

class Files : public Scratch {};

TEST_F(Files, BrokenTablesAreRefused) {
  const auto load = [&](const std::string& encoder, const std::string& merges) {
    EXPECT_TRUE(write_file_atomically(path("encoder.json"), encoder).has_value());
    EXPECT_TRUE(write_file_atomically(path("vocab.bpe"), merges).has_value());
    return BytePairs::load(path("encoder.json"), path("vocab.bpe"), {"<|endoftext|>"});
  };
  for (const char* encoder : {"[]", "{\"a\": 1}", "{\"a\": \"x\"}", "{\"a\": 0}", "{\"\\u4e2d\": 0}", "{"}) {
    const auto loaded = load(encoder, "");
    ASSERT_TRUE(loaded.has_error()) << encoder;
    EXPECT_NE(loaded.error().message.find("encoder.json"), std::string::npos) << loaded.error().message;
  }
}

TEST_F(Files, E2eRecordsMayBeQuoted) {
  ASSERT_TRUE(write_file_atomically(path("a.csv"), "mr,ref\r\n\"name[A], x\",\"says \"\"hi\"\"\"\r\nb,c")
                  .has_value());
  const auto records = read_e2e(path("a.csv"));
  ASSERT_TRUE(records.has_value()) << records.error().message;
  ASSERT_EQ(records->size(), 2U);
  EXPECT_EQ((*records)[0].mr, "name[A], x");
  EXPECT_EQ((*records)[0].ref, "says \"hi\"");
  EXPECT_EQ((*records)[1].ref, "c");
  for (const char* bad : {"a,b\n", "mr,ref\na\n", "mr,ref\n\"a,b\n", "mr,ref\na,b,c\n"}) {
    ASSERT_TRUE(write_file_atomically(path("b.csv"), bad).has_value());
    EXPECT_TRUE(read_e2e(path("b.csv")).has_error()) << bad;
  }
}

TEST(E2e, LabelsAreTheAnswerAlone) {
  if (!has_tokenizer() || !fs::exists(data_folder() + "/e2e/devset.csv"))
    GTEST_SKIP() << "SKIPPED: no e2e and gpt2 in HYFREEDP_DATA";
  const auto options = *resolve_options((*find_dataset("e2e-dev"))->options, {}, "e2e-dev");
  const auto data = load_dataset("e2e-dev", options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  const auto& labels = data->private_train.labels;
  std::vector<std::int64_t> answer;
  for (std::int64_t t = 0; t < 64; ++t) {
    if (const auto label = labels[0][t].item<std::int64_t>(); label != -100) answer.push_back(label);
  }
  EXPECT_EQ(tokenizer().text_of(answer),
            " There is a place in the city centre, Alimentum, that is not family-friendly.");
  ASSERT_FALSE(answer.empty());
  EXPECT_EQ(answer.back(), tokenizer().mark("<|endoftext|>"));
  EXPECT_EQ(labels[0][0].item<std::int64_t>(), -100);
}

// A weights folder's tokenizer in place of GPT-2's, with the mark that it puts before a text.
TEST(E2e, RecordsWithoutAnAnswerAreTold) {
  const auto& facts = **find_dataset("e2e-dev");
  if (const auto found = locate(facts); !found) GTEST_SKIP() << found.error().message;
  const auto notes_of = [&](std::int64_t length) {
    Notes notes;
    EXPECT_TRUE(
        complete_options(facts, *resolve_options(facts.options, {{"length", length}}, "e2e-dev"), &notes));
    return notes;
  };
  EXPECT_EQ(notes_of(64), Notes{});
  ASSERT_EQ(notes_of(48).size(), 1U);
  EXPECT_NE(notes_of(48)[0].find("of 1354 of 4693 test records"), std::string::npos) << notes_of(48)[0];
}

TEST(E2e, TakesTheTokenizerOfAWeightsFolder) {
  const auto scratch = ScratchFolder::make().value();
  const auto folder = scratch.path();
  const auto path = [&](const std::string& name) { return folder + "/" + name; };
  const auto& facts = **find_dataset("e2e-dev");
  for (const char* file : {"tokenizer.json", "tokenizer_config.json"})
    fs::copy_file(std::string(HYFREEDP_TEST_DATA) + "/text/tokenizer_json/llama3/" + file, path(file));
  for (const char* file : {"config.json", "model.safetensors"})
    ASSERT_TRUE(write_file_atomically(path(file), "{}"));
  const auto given = *resolve_options(facts.options, {{"tokenizer", folder}}, "e2e-dev");
  const auto options = complete_options(facts, given).value();
  const auto tokenizer = load_tokenizer(folder).value();
  EXPECT_EQ(sizes(facts, options).vocabulary, tokenizer->vocabulary());
  EXPECT_EQ(with_needed_files(facts, options).files.size(), 2U);
  EXPECT_EQ(with_needed_files(facts, {}).files.size(), 4U);
  EXPECT_NE(complete_options(facts, {{"vocabulary", 5}}).error().message.find("only with 'tokenizer'"),
            std::string::npos);
  if (!fs::exists(data_folder() + "/e2e/devset.csv")) GTEST_SKIP() << "SKIPPED: no e2e in HYFREEDP_DATA";
  const auto data = load_dataset("e2e-dev", options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  auto wanted = tokenizer->marks().before;
  ASSERT_EQ(wanted.size(), 1U);
  for (const auto id : tokenizer->encode("name[Alimentum], area[city centre], familyFriendly[no] ||"))
    wanted.push_back(id);
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    const auto at = static_cast<std::int64_t>(t);
    EXPECT_EQ(data->private_train.features[0][at].item<std::int64_t>(), wanted[t]) << t;
    EXPECT_EQ(data->private_train.labels[0][at].item<std::int64_t>(), kNotScored) << t;
  }
  EXPECT_NE(data->private_train.labels[0][static_cast<std::int64_t>(wanted.size())].item<std::int64_t>(),
            kNotScored);
  ASSERT_TRUE(write_file_atomically(path("tokenizer_config.json"), R"({"pad_token": "</s>"})"));
  EXPECT_NE(complete_options(facts, given).error().message.find("'eos_token'"), std::string::npos);
}

// Named after the suite's ctest entry.
TEST(ReferenceText, IdsAndBytesAreThoseOfOtherTokenizers) {
  const char* given = std::getenv("HYFREEDP_REFERENCE_DIR");
  const auto file = fs::path(given != nullptr ? given : HYFREEDP_TEST_DATA) / "models" / "tokenizer.json";
  if (!fs::exists(file) || !has_tokenizer()) {
    std::cout << "SKIPPED SUITE: needs " << file << " and gpt2 in HYFREEDP_DATA\n";
    GTEST_SKIP();
  }
  const auto reference = read_json_file(file.string()).value().as_object();
  auto pairs = tokenizer();
  EXPECT_EQ(pairs.vocabulary(), reference.at("n_vocab").as_int64());
  EXPECT_EQ(pairs.mark("<|endoftext|>"), reference.at("endoftext_id").as_int64());
  std::size_t cases = 0;
  for (const auto& item : reference.at("cases").as_array()) {
    const auto text = from_hex(std::string(item.at("utf8_hex").as_string()));
    const auto ids = ids_of(item.at("ids"));
    EXPECT_EQ(pairs.encode(text), ids) << text;
    EXPECT_EQ(pairs.text_of(ids), text);
    ++cases;
  }
  for (const auto& item : reference.at("decode").as_array()) {
    // The reference decoder writes the mark out.
    auto text = from_hex(std::string(item.at("bytes_hex").as_string()));
    if (const auto at = text.find("<|endoftext|>"); at != std::string::npos) text.erase(at, 13);
    EXPECT_EQ(pairs.text_of(ids_of(item.at("ids"))), text);
    ++cases;
  }
  std::cout << "ReferenceText: " << cases << " cases ran\n";
  EXPECT_GT(cases, 0U);
}

}  // namespace
}  // namespace hyfreedp::datasets
