// A user's own texts for language models: which tokens a record has, which of them are scored, and
// which data they are.
#include "datasets/text_file.h"

#include <ATen/ATen.h>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <numeric>
#include <set>

#include "datasets/dataset.h"
#include "datasets/own/content_marks.h"
#include "datasets/same_data.h"
#include "harness/base/describe.h"
#include "harness/base/files.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Ids = std::vector<std::int64_t>;

const std::string kTexts = std::string(HYFREEDP_TEST_DATA) + "/text/";

class OwnTextFile : public Scratch {
 protected:
  static constexpr int kLines = 60;

  static const Facts& facts() { return *find_dataset("text-file").value(); }
  void SetUp() override {
    copy_tokenizer("llama3");
    write("own.txt", lines());
  }
  void copy_tokenizer(const std::string& name) const {
    fs::copy(kTexts + "tokenizer_json/" + name, path(name));
    for (const char* file : {"/config.json", "/model.safetensors"}) write(name + file, "{}");
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(path(name), text));
  }
  // Its number, and up to 18 words.
  static std::string line(int i) {
    auto text = std::to_string(i);
    for (int word = 1; word < i % 20; ++word) text += word % 2 == 0 ? " hello" : " again,";
    return text;
  }
  static std::string lines(int first = 0) {
    std::string text;
    for (int i = first; i < first + kLines; ++i) text += line(i) + "\n";
    return text;
  }
  static std::string columns(char separator, int first = 0) {
    std::string text = fmt::format("id{0}text{0}before\n", separator);
    for (int i = first; i < first + kLines; ++i)
      text += fmt::format("{}{}\"{}\"{}hello\n", i, separator, line(i), separator);
    return text;
  }
  Result<json::object> completed(const std::string& file, json::object given = {}) const {
    given["path"] = path(file);
    if (!given.contains("tokenizer")) given["tokenizer"] = path("llama3");
    if (!given.contains("length")) given["length"] = 12;
    const auto resolved = resolve_options(facts().options, given, "text-file");
    return resolved ? complete_options(facts(), *resolved) : resolved;
  }
  std::string refusal(const std::string& file, const json::object& given = {}) const {
    const auto options = completed(file, given);
    return options ? "taken" : options.error().message;
  }
  Dataset loaded(const std::string& file, const json::object& given = {}) const {
    const auto options = completed(file, given);
    EXPECT_TRUE(options) << options.error().message;
    auto data = load_dataset("text-file", *options);
    EXPECT_TRUE(data) << data.error().message;
    return std::move(*data);
  }

  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};
};

// The mark before each text, its pieces, and the mark after it, by a tokenizer.model.
TEST_F(OwnTextFile, IsReadByTheTokenizerOfAFolderOfSentencePieces) {
  const auto from = kTexts + "sentence_pieces/llama_new";
  fs::copy(from, path("pieces"));
  for (const char* file : {"/config.json", "/model.safetensors"}) write(std::string("pieces") + file, "{}");
  const auto options = completed("own.txt", {{"tokenizer", path("pieces")}, {"length", 24}}).value();
  EXPECT_EQ(options.at("vocabulary").as_int64(), 601);
  const auto cases = read_json_file(from + "/cases.json").value().at("rows").as_array();
  const auto& wanted = cases.at(3).as_object();
  ASSERT_EQ(wanted.at("text"), "hello world");
  const auto tokenizer = load_tokenizer(path("pieces")).value();
  Ids row(24);
  tokenizer->fill_row("hello world", nullptr, row);
  EXPECT_EQ(row, from_json<Ids>(wanted.at("ids"), "ids").value());
  const auto data = load_dataset("text-file", options);
  ASSERT_TRUE(data) << data.error().message;
}

// tests/data/text/continued.
class TokensOf : public OwnTextFile, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    copy_tokenizer(GetParam());
    cases_ = read_json_file(kTexts + "continued/cases.json").value().as_object();
    const auto texts = from_json<std::vector<std::string>>(cases_.at("lines"), "lines").value();
    const auto prompts = from_json<std::vector<std::string>>(cases_.at("prompts"), "prompts").value();
    std::string text, objects, table = "before,text\n";
    for (std::size_t i = 0; i < texts.size(); ++i) {
      text += texts[i] + "\n";
      objects +=
          json::serialize(json::object{{"text", texts[i]}, {"more", 1}, {"before", prompts[i]}}) + "\n";
      table += fmt::format("\"{}\",\"{}\"\n", prompts[i], texts[i]);
    }
    write("lines.txt", text);
    write("paragraphs.txt", texts[0] + "\n\n" + text.substr(text.find('\n') + 1));
    write("objects.jsonl", objects);
    write("table.csv", table);
  }
  // The rows of a file are those of the fixture's `kind`.
  void expect_rows(const std::string& file, json::object options, const std::string& kind) const {
    SCOPED_TRACE(file + " " + kind);
    const auto length = cases_.at("length").as_int64();
    options["length"] = length;
    options["text"] = "text";
    const auto texts = read_own_texts(path(file), options);
    ASSERT_TRUE(texts) << texts.error().message;
    const auto rows = token_rows((*texts)[0], options, *load_tokenizer(path(GetParam())).value());
    Ids ids, labels;
    for (const auto& row : cases_.at("folders").at(GetParam()).at(kind).as_array()) {
      const auto read = [&](const json::value& list, Ids& to) {
        const auto more = from_json<Ids>(list, kind).value();
        ASSERT_EQ(std::ssize(more), length);
        to.insert(to.end(), more.begin(), more.end());
      };
      read(row.is_array() ? row : row.at("ids"), ids);
      read(row.is_array() ? row : row.at("labels"), labels);
    }
    EXPECT_FALSE(ids.empty());
    EXPECT_EQ(rows.ids, ids);
    EXPECT_EQ(rows.labels, labels);
  }

  json::object cases_;
};

TEST_P(TokensOf, RecordsAreThoseOfTokenizers) {
  for (const char* file : {"lines.txt", "objects.jsonl", "table.csv"}) expect_rows(file, {}, "rows");
  for (const char* file : {"objects.jsonl", "table.csv"}) {
    expect_rows(file, {{"prompt", "before"}}, "with_prompt");
    expect_rows(file, {{"records", "blocks"}}, "blocks");
  }
  expect_rows("paragraphs.txt", {{"records", "blocks"}}, "blocks_of_lines");
}

INSTANTIATE_TEST_SUITE_P(Rules, TokensOf, ::testing::Values("smollm", "llama", "llama3"));

// Of the test records alone: how many of the others there are is private.
TEST_F(OwnTextFile, PromptsThatFillARecordAreTold) {
  const auto table = [](const std::string& of_some, const char* answer) {
    std::string text = "before,text\n";
    for (int i = 0; i < kLines; ++i) text += fmt::format("{},{} {}\n", i < 3 ? of_some : "hello", answer, i);
    return text;
  };
  const auto notes_of = [&](const std::string& trained, const std::string& tested, int length) {
    write("own/train.csv", table(trained, "answer"));
    write("own/test.csv", table(tested, "reply"));
    Notes notes;
    const json::object given{
        {"path", path("own")}, {"tokenizer", path("llama3")}, {"prompt", "before"}, {"length", length}};
    const auto options =
        complete_options(facts(), resolve_options(facts().options, given, "text-file").value(), &notes);
    EXPECT_TRUE(options) << options.error().message;
    return notes;
  };
  const std::string longer = "again hello again hello again hello again hello";
  EXPECT_THAT(notes_of("hello", longer, 5),
              ::testing::ElementsAre(HasSubstr(
                  "own: of 3 of 60 test records the first 5 tokens ('length') are the prompt alone")));
  EXPECT_THAT(notes_of("hello", longer, 64), ::testing::IsEmpty());
  EXPECT_THAT(notes_of(longer, "hello", 5), ::testing::IsEmpty());
}

TEST_F(OwnTextFile, EveryFormatGivesTheSameRecords) {
  write("own.csv", columns(','));
  write("own.tsv", columns('\t'));
  write("bars.csv", columns('|'));
  const auto text = lines();
  write_gz("packed.txt.gz", {text.begin(), text.end()});
  std::string objects;
  for (int i = 0; i < kLines; ++i) objects += fmt::format("{{\"text\": \"{}\"}}\n", line(i));
  write("own.jsonl", objects);
  const auto first = loaded("own.txt");
  const auto n = sizes(facts(), completed("own.txt").value());
  EXPECT_EQ(n.labels, LabelKind::tokens);
  EXPECT_EQ(n.classes, n.vocabulary);
  EXPECT_EQ(n.private_train + n.private_validation + n.test, kLines);
  std::set<Ids> seen;
  for (const auto& [split, count] : {std::pair{first.private_train, n.private_train},
                                     {first.private_validation, n.private_validation},
                                     {first.test, n.test}}) {
    EXPECT_GT(count, 0);
    EXPECT_EQ(split.features.sizes().vec(), (Ids{count, 12}));
    EXPECT_TRUE(
        at::logical_or(split.labels == split.features, split.labels == kNotScored).all().item<bool>());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = split.features[i].contiguous();
      seen.insert(Ids(row.const_data_ptr<std::int64_t>(), row.const_data_ptr<std::int64_t>() + 12));
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{kLines}) << "each record is in one split";
  for (const auto& [file, given] :
       std::vector<std::pair<const char*, json::object>>{{"packed.txt.gz", {}},
                                                         {"own.csv", {}},
                                                         {"own.tsv", {}},
                                                         {"bars.csv", {{"separator", "|"}}},
                                                         {"own.jsonl", {}}}) {
    const auto data = loaded(file, given);
    for (const auto split : {Split::private_train, Split::private_validation, Split::test}) {
      EXPECT_TRUE(at::equal(data.split(split).features, first.split(split).features)) << file;
      EXPECT_TRUE(at::equal(data.split(split).labels, first.split(split).labels)) << file;
    }
  }
}

TEST_F(OwnTextFile, AFolderHasItsOwnTestTexts) {
  write("own/train.txt", lines());
  write("own/test.jsonl", "{\"text\": \"hello\"}\n{\"text\": \"hello hello\"}\n{\"text\": \"year\"}\n");
  const auto options = completed("own", {{"train", 20}}).value();
  EXPECT_EQ(sizes(facts(), options).test, 3);
  EXPECT_EQ(sizes(facts(), options).private_train, 20);
  const auto data = load_dataset("text-file", options).value();
  const auto tested = read_own_texts(path("own"), options).value()[1];
  const auto rows = token_rows(tested, options, *load_tokenizer(path("llama3")).value());
  EXPECT_EQ(data.test.features.sum().item<std::int64_t>(),
            std::accumulate(rows.ids.begin(), rows.ids.end(), std::int64_t{0}));
  EXPECT_TRUE(at::equal(data.private_train.features, loaded("own").private_train.features.slice(0, 0, 20)));
  const auto alone = test_alone(
      facts(),
      resolve_options(facts().options, {{"path", path("own")}, {"length", 12}, {"tokenizer", path("llama3")}},
                      "text-file")
          .value());
  ASSERT_TRUE(alone) << alone.error().message;
  const auto only = load_dataset("text-file", complete_options(facts(), *alone).value()).value();
  EXPECT_EQ(only.private_train.features.size(0), 0);
  EXPECT_TRUE(at::equal(only.test.features, data.test.features));
  std::filesystem::remove(path("own/train.txt"));
  EXPECT_EQ(sizes(facts(), complete_options(facts(), *alone).value()).test, 3)
      << "a folder with test.EXT alone";
}

TEST_F(OwnTextFile, BlocksAreRecordsOfTheirOwn) {
  const auto options = completed("own.txt", {{"records", "blocks"}}).value();
  const auto n = sizes(facts(), options);
  std::int64_t tokens = 0;
  const auto tokenizer = load_tokenizer(path("llama3")).value();
  for (int i = 0; i < kLines; ++i) tokens += std::ssize(tokenizer->encode(line(i) + "\n"));
  EXPECT_EQ(n.private_train + n.private_validation + n.test, tokens / 12);
  const auto data = load_dataset("text-file", options).value();
  EXPECT_EQ(data.private_train.features.size(0), n.private_train);
  EXPECT_TRUE(at::equal(data.private_train.labels, data.private_train.features));
  // A line that is a record in one is in several blocks of the other, for training or test.
  const auto division = [](const json::object& of) { return identity_of("text-file", of).division; };
  EXPECT_NE(division(options), division(completed("own.txt").value()));
  EXPECT_NE(division(options),
            division(completed("own.txt", {{"records", "blocks"}, {"length", 10}}).value()));
  EXPECT_EQ(division(options), division(completed("own.txt", {{"records", "blocks"}, {"test", 3}}).value()));
  EXPECT_EQ(division(completed("own.txt").value()), division(completed("own.txt", {{"length", 10}}).value()));
}

// Texts of another column are cut elsewhere, and another separator reads other rows.
TEST_F(OwnTextFile, OtherColumnsAndSeparatorsDivideItOtherwise) {
  std::string rows = "a,b\n";
  for (int i = 0; i < 600; ++i) rows += fmt::format("hello year {},hello {}\n", i, i);
  write("two.csv", rows);
  const auto division = [&](json::object given) {
    return identity_of("text-file", completed("two.csv", std::move(given)).value()).division;
  };
  const json::object a{{"text", "a"}}, b{{"text", "b"}};
  const auto blocks = [](json::object of) {
    of["records"] = "blocks";
    return of;
  };
  EXPECT_EQ(division(a), division(b)) << "a row lies in one split";
  EXPECT_NE(division(blocks(a)), division(blocks(b)));
  auto options = completed("two.csv", a).value();
  options["separator"] = ";";
  EXPECT_NE(identity_of("text-file", options).division, division(a));
}

// The same bytes are lines in one file and a table in another: other records.
TEST_F(OwnTextFile, ACopyUnderAnotherEndingIsMarkedAsItIsRead) {
  std::string rows = "k,text\n", texts;
  for (int i = 0; i < 60; ++i) {
    rows += fmt::format("{},hello year {}\n", i, i);
    texts += fmt::format("hello year {}\n", i);
  }
  write("table.csv", rows);
  write("lines.txt", rows);
  const auto identity = [&](const char* file) { return identity_of("text-file", completed(file).value()); };
  const auto lines = identity("lines.txt");
  write("part.txt", texts.substr(0, texts.find("hello year 30")));
  const auto table = identity("table.csv");
  EXPECT_NE(lines.reading, table.reading);
  EXPECT_TRUE(is_same_data(identity("part.txt"), table));
}

TEST_F(OwnTextFile, WhatDoesNotFitIsRefused) {
  write("own.csv", columns(','));
  write("semicolons.csv", columns(';'));
  write("blank.txt", lines() + "\n  \nhello\n");
  write("blank.csv", "text\nhello\n\" \"\n");
  write("blank.jsonl", "{\"text\": \"hello\"}\n{\"text\": \"\"}\n{\"text\": 3}\n");
  write("empty.txt", "");
  write("white.txt", "\n \n");
  write("header.csv", "text\n");
  write("none.jsonl", "");
  write("latin.txt", lines() + "caf\xE9\n");
  write("latin.csv", columns(',') + "1,caf\xE9,x\n");
  write("short.txt", "hello\n");
  write("own.md", lines());
  write("both/train.txt", lines());
  write("both/train.csv", columns(','));
  write("other/texts.txt", lines());
  write("tests/train.txt", lines());
  write("tests/test.txt", "1\n");
  copy_tokenizer("smollm");
  write("smollm/tokenizer_config.json", R"({"pad_token": "<|end|>"})");
  const json::object blocks{{"records", "blocks"}};
  for (const auto& [file, given, what] : std::vector<std::tuple<const char*, json::object, const char*>>{
           {"own.csv", {{"text", "texts"}}, "own.csv:1: no column is called 'texts'. Did you mean 'text'?"},
           {"own.csv", {{"prompt", "befor"}}, "no column is called 'befor'. Did you mean 'before'?"},
           {"own.csv", {{"prompt", "befor"}}, "The option 'prompt' names the one with the prompt texts"},
           {"own.csv", {{"prompt", "text"}}, "'prompt' names the column of 'text' again"},
           {"own.csv",
            {{"prompt", "before"}, {"records", "blocks"}},
            "'prompt' is read with `records: lines`"},
           {"own.txt", {{"prompt", "before"}}, "the lines of a .txt file have none"},
           {"own.txt", {{"separator", ";"}}, "'separator' is of CSV and TSV files"},
           {"semicolons.csv", {}, "give the option `separator: \";\"`"},
           {"blank.txt", {}, "blank.txt:61: the text is empty. Take the record out.\n"},
           {"blank.txt", {}, "blank.txt:62: the text is empty"},
           {"blank.csv", {}, "blank.csv:3: the text is empty"},
           {"blank.jsonl", {}, "blank.jsonl:2: the text is empty"},
           {"blank.jsonl", {}, "blank.jsonl:3: 'text' is 3, and not a text."},
           {"empty.txt", {}, "empty.txt: has no text."},
           {"white.txt", blocks, "white.txt: has no text."},
           {"header.csv", {}, "has no rows beneath its header"},
           {"none.jsonl", {}, "has no records"},
           {"latin.txt", {}, "latin.txt:61: the byte 0xE9 is no text in UTF-8. Convert the file"},
           {"latin.csv", {}, "latin.csv:62: the byte 0xE9 is no text in UTF-8. Convert the file"},
           {"short.txt", {}, "records are too few: none is in the part for"},
           {"short.txt", blocks, "0 records are too few: none is in the part for train"},
           {"tests", blocks, "has less text than one block"},
           {"own.txt", {{"train", 61}}, "'train' asks for 61 records, but there are"},
           {"own.md", {}, "must end with .txt, .txt.gz, .csv, .tsv, .jsonl or .jsonl.gz."},
           {"both", {}, "only one of them may be there"},
           {"other", {}, "there is no train.EXT in that folder; EXT is txt, txt.gz,"},
           {"own.txt", {{"tokenizer", ""}}, "needs 'tokenizer', a weights folder"},
           {"own.txt", {{"tokenizer", path("nowhere")}}, "nowhere"},
           {"own.txt", {{"tokenizer", path("smollm")}}, "names no token that ends a text"},
           {"own.txt", {{"vocabulary", 7}, {"tokenizer_sha256", std::string(64, '0')}}, "has the SHA-256"},
           {"nowhere.txt", {}, "must give train, validation and test itself"}}) {
    EXPECT_THAT(refusal(file, given), HasSubstr(what)) << file;
  }
  EXPECT_EQ(refusal("blank.txt", blocks), "taken") << "blank lines are between paragraphs";
  EXPECT_EQ(refusal("nowhere.txt", {{"train", 80}, {"validation", 10}, {"test", 10}}), "taken");
  const auto options = completed("own.txt").value();
  write("own.txt", lines(1));
  EXPECT_THAT(load_dataset("text-file", options).error().message, HasSubstr("have changed since"));
}

// Under another name, in another format, as blocks, and read by `table-file`: the records are the
// texts.
TEST_F(OwnTextFile, AreTheSameDataInEveryFormat) {
  write("table.csv", columns(',', kLines / 2));
  write("others.csv", columns(',', 1000));
  copy_tokenizer("smollm");
  const auto mine = completed("own.txt").value();
  const auto is_same = [&](const std::string& dataset, const json::object& options) {
    return is_same_data(identity_of("text-file", mine), identity_of(dataset, options));
  };
  EXPECT_TRUE(is_same("text-file", completed("table.csv", {{"tokenizer", path("smollm")}}).value()));
  EXPECT_TRUE(is_same("text-file", completed("own.txt", {{"records", "blocks"}}).value()));
  EXPECT_FALSE(is_same("text-file", completed("others.csv").value()));
  write("prompts.csv", columns(','));
  EXPECT_TRUE(is_same("text-file", completed("prompts.csv", {{"prompt", "before"}}).value()));
  std::string rows = "kind\tbody\n";
  for (int i = 0; i < kLines; ++i) rows += fmt::format("{}\t{}\n", i % 2, line(i));
  write("classes.tsv", rows);
  const auto& table = *find_dataset("table-file").value();
  const auto given = resolve_options(
      table.options,
      {{"path", path("classes.tsv")}, {"text", "body"}, {"label", "kind"}, {"tokenizer", path("llama3")}},
      "table-file");
  const auto classes = complete_options(table, given.value()).value();
  EXPECT_TRUE(is_same("table-file", classes));
  const auto both = sizes(table, classes), own = sizes(facts(), mine);
  EXPECT_EQ(both.private_train, own.private_train);
  EXPECT_EQ(both.test, own.test) << "a row is in the same split in both";
}

// Also of a file that was first read without them.
TEST_F(OwnTextFile, PromptsInCommonAreFound) {
  for (const auto& [name, text] : {std::pair{"mine.csv", "hello"}, {"theirs.csv", "again"}}) {
    std::string rows = "text,asked\n";
    for (int i = 0; i < kLines; ++i) rows += fmt::format("{} {},question {}\n", text, i, i);
    write(name, rows);
  }
  ASSERT_TRUE(completed("mine.csv"));
  const auto common = [&](const json::object& given) {
    return content_marks(own_mark(completed("theirs.csv", given).value())).common_train;
  };
  EXPECT_TRUE(common({}).empty());
  ASSERT_TRUE(completed("mine.csv", {{"prompt", "asked"}}));
  EXPECT_FALSE(common({{"prompt", "asked"}}).empty());
}

TEST_F(OwnTextFile, TestTextsThatAreTrainedOnAreRefused) {
  write("own/train.txt", lines());
  write("own/test.txt", lines(kLines - 15));
  EXPECT_THAT(refusal("own"), HasSubstr("test records are training records, too"));
  EXPECT_EQ(refusal("own", {{"other_people", true}}), "taken");
}

}  // namespace
}  // namespace hyfreedp::datasets
