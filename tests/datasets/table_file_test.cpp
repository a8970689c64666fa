// A user's own table of numbers: what is read of it, and which row is in which split.
#include "datasets/table_file.h"

#include <ATen/ATen.h>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <map>

#include "datasets/dataset.h"
#include "datasets/own/content_marks.h"
#include "datasets/own/own_files.h"
#include "datasets/table_columns.h"
#include "datasets/text/word_pieces.h"
#include "harness/base/files.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

class OwnTableFile : public Scratch {
 protected:
  static const Facts& facts() { return *find_dataset("table-file").value(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }
  // Row i, from `first` on: x = i, y = -i / 2, and the class by turns.
  static std::string csv(int rows, char separator = ',', int first = 0) {
    auto text = fmt::format("x{0}kind{0}y\n", separator);
    for (int i = first; i < first + rows; ++i) {
      text += fmt::format("{}{}{}{}{}\n", i, separator, i % 2 == 0 ? "no" : "yes", separator, -0.5 * i);
    }
    return text;
  }
  static std::string libsvm(int rows) {
    std::string text;
    for (int i = 0; i < rows; ++i) text += fmt::format("{} 1:{} 2:{}\n", i % 2 == 0 ? -1 : 1, i, -0.5 * i);
    return text;
  }
  // The same rows as csv(rows), as NumPy would write them.
  static std::string npy(const std::string& type, const std::string& shape, const std::string& values) {
    const auto header =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", type, shape);
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + values;
  }
  void write_npy(const std::string& stem, int rows, int first = 0) const {
    std::string numbers, classes;
    for (int i = first; i < first + rows; ++i) {
      for (const float value : {static_cast<float>(i), -0.5F * static_cast<float>(i)}) {
        numbers.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
      classes += static_cast<char>(i % 2);
    }
    write(stem + ".npy", npy("<f4", fmt::format("({}, 2)", rows), numbers));
    write(stem + ".labels.npy", npy("|u1", fmt::format("({},)", rows), classes));
  }
  Result<json::object> completed(const std::string& file, json::object given = {}) const {
    given["path"] = path(file);
    if (!given.contains("labels")) given["labels"] = "no, yes";
    if (!given.contains("label")) given["label"] = "kind";
    const auto resolved = resolve_options(facts().options, given, "table-file");
    return resolved ? complete_options(facts(), *resolved) : resolved;
  }
  std::string refusal(const std::string& file, const json::object& given = {}) const {
    const auto options = completed(file, given);
    return options ? "taken" : options.error().message;
  }

  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};
};

// The rows that a split has, by x.
std::vector<int> rows_of(const SplitData& split) {
  std::vector<int> rows;
  for (std::int64_t i = 0; i < split.features.size(0); ++i) {
    const int x = static_cast<int>(split.features[i][0].item<float>());
    EXPECT_EQ(split.features[i][1].item<float>(), -0.5F * static_cast<float>(x));
    EXPECT_EQ(split.labels[i].item<std::int64_t>(), x % 2);
    rows.push_back(x);
  }
  return rows;
}

TEST_F(OwnTableFile, EveryFormatGivesTheSameRows) {
  write("a.csv", csv(300));
  write("a.tsv", csv(300, '\t'));
  write("a.libsvm", libsvm(300));
  const auto text = libsvm(300);
  write_gz("b.libsvm.gz", {text.begin(), text.end()});
  write_npy("n/train", 300);
  std::vector<std::vector<int>> train;
  for (const auto& [file, given] : std::vector<std::pair<const char*, json::object>>{
           {"a.csv", {}},
           {"a.tsv", {}},
           {"a.libsvm", {{"labels", "-1, 1"}, {"features", 2}}},
           {"b.libsvm.gz", {{"labels", "-1, 1"}, {"features", 2}}},
           {"n", {{"labels", "0..1"}}}}) {
    const auto options = completed(file, given);
    ASSERT_TRUE(options) << options.error().message;
    const auto n = facts().sizes(*options);
    EXPECT_EQ(n.classes, 2);
    EXPECT_EQ(n.features, 2);
    EXPECT_EQ(n.private_train + n.private_validation + n.test, 300);
    EXPECT_GT(n.private_validation, 15);
    EXPECT_LT(n.private_validation, 50);
    EXPECT_GT(n.test, 15);
    EXPECT_LT(n.test, 50);
    const auto loaded = load_dataset("table-file", *options);
    ASSERT_TRUE(loaded) << loaded.error().message;
    std::map<int, int> seen;
    train.push_back(rows_of(loaded->private_train));
    for (const auto* split : {&loaded->private_train, &loaded->private_validation, &loaded->test}) {
      for (const int row : rows_of(*split)) ++seen[row];
    }
    EXPECT_EQ(seen.size(), 300U) << "each row is in one split";
    EXPECT_EQ(train.back(), train.front()) << file;
  }
}

TEST_F(OwnTableFile, AFolderWithATestFileAloneIsATestSet) {
  write("both/train.csv", csv(300));
  for (const char* folder : {"both", "shift"}) write(std::string(folder) + "/test.csv", csv(40, ',', 300));
  const auto options_of = [&](const std::string& folder) {
    return resolve_options(facts().options,
                           {{"path", path(folder)}, {"label", "kind"}, {"labels", "no, yes"}}, "table-file")
        .value();
  };
  const auto alone = complete_options(facts(), test_alone(facts(), options_of("shift")).value());
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(facts().sizes(*alone).test, 40);
  EXPECT_EQ(facts().sizes(*alone).private_train + facts().sizes(*alone).private_validation, 0);
  const auto data = load_dataset("table-file", *alone),
             same = load_dataset("table-file", completed("both").value());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_TRUE(at::equal(data->test.features, same->test.features));
  EXPECT_EQ(columns_sha256(*alone).value(), columns_sha256(completed("both").value()).value());
  EXPECT_TRUE(check_same_columns(completed("both").value(), *alone));
  const auto trained = complete_options(facts(), options_of("shift"));
  ASSERT_FALSE(trained);
  EXPECT_NE(trained.error().message.find("there is no train.EXT in that folder"), std::string::npos);
}

TEST_F(OwnTableFile, AClassThatIsNotTestedIsTold) {
  std::string rows = "x,kind\n";
  for (int i = 0; i < 60; ++i) rows += fmt::format("{},{}\n", i, std::array{"no", "yes", "may"}[i % 3]);
  write("own/train.csv", rows);
  write("own/test.csv", "x,kind\n-1,no\n-2,no\n");
  const auto notes_of = [&](const std::string& labels) {
    Notes notes;
    const json::object given{{"path", path("own")}, {"label", "kind"}, {"labels", labels}};
    const auto options =
        complete_options(facts(), resolve_options(facts().options, given, "table-file").value(), &notes);
    EXPECT_TRUE(options) << options.error().message;
    return notes;
  };
  EXPECT_EQ(
      notes_of("no, yes, may"),
      Notes{path("own") + ": no row of test is of the classes yes, may: the accuracy says nothing of them"});
  write("own/test.csv", "x,kind\n-1,no\n-2,yes\n-3,may\n");
  EXPECT_EQ(notes_of("no, yes, may"), Notes{});
}

TEST_F(OwnTableFile, ARowStaysInItsSplitWhateverComesAfterIt) {
  write("a.csv", csv(200));
  write("b.csv", csv(300));
  const auto few = load_dataset("table-file", completed("a.csv").value()).value();
  const auto more = load_dataset("table-file", completed("b.csv").value()).value();
  for (const auto split : {Split::private_train, Split::private_validation, Split::test}) {
    auto before = rows_of(few.split(split)), after = rows_of(more.split(split));
    std::erase_if(after, [](int row) { return row >= 200; });
    EXPECT_EQ(before, after);
  }
}

TEST_F(OwnTableFile, AFolderHasItsOwnTestRows) {
  write("t/train.csv", csv(100));
  write("t/test.csv", csv(30, ',', 100));
  const auto options = completed("t", {{"train", 40}}).value();
  const auto n = facts().sizes(options);
  EXPECT_EQ(n.private_train, 40);
  EXPECT_EQ(n.test, 30);
  const auto loaded = load_dataset("table-file", options).value();
  EXPECT_EQ(loaded.test.features.size(0), 30);
  const auto all = load_dataset("table-file", completed("t").value()).value();
  EXPECT_EQ(all.private_train.features.size(0) + all.private_validation.features.size(0), 100);
  auto first = rows_of(all.private_train);
  first.resize(40);
  EXPECT_EQ(rows_of(loaded.private_train), first) << "fewer rows are a part of more";
}

TEST_F(OwnTableFile, ArraysOfNumPyHaveTestRowsAndMarksOfBothFiles) {
  write_npy("n/train", 100);
  write_npy("n/test", 30, 100);
  const auto options = completed("n", {{"labels", "0..9"}}).value();
  EXPECT_EQ(facts().sizes(options).test, 30);
  EXPECT_EQ(facts().sizes(options).classes, 10);
  EXPECT_EQ(rows_of(load_dataset("table-file", options).value().test).size(), 30U);
  write("n/train.labels.npy", npy("|u1", "(100,)", std::string(100, '\1')));
  EXPECT_NE(load_dataset("table-file", completed("n", {{"labels", "0..9"}}).value())
                .value()
                .private_train.labels.sum()
                .item<std::int64_t>(),
            0);
  EXPECT_NE(completed("n", {{"labels", "0..9"}}).value().at("files_mark"), options.at("files_mark"));
  EXPECT_NE(refusal("n", {{"labels", "9223372036854775806..9223372036854775807"}}).find("the label 1 at [0]"),
            std::string::npos);
  EXPECT_NE(refusal("n/train.npy").find("named by their folder"), std::string::npos);
  EXPECT_NE(refusal("n", {{"labels", "9..0"}}).find("at least two different classes"), std::string::npos);
  EXPECT_NE(refusal("n", {{"labels", "no, yes"}}).find("labels in such a file are numbers"),
            std::string::npos);
  fs::remove(path("n/test.labels.npy"));
  EXPECT_NE(refusal("n", {{"labels", "0..9"}}).find("test.labels.npy"), std::string::npos);
}

TEST_F(OwnTableFile, RowsAreScaledOneByOne) {
  write("a.csv", csv(100));
  const auto loaded = load_dataset("table-file", completed("a.csv", {{"normalise", "norm"}}).value()).value();
  bool has_zero = false;
  for (const auto* split : {&loaded.private_train, &loaded.private_validation, &loaded.test}) {
    const auto norms = split->features.norm(2, 1);
    for (std::int64_t i = 0; i < norms.size(0); ++i) {
      const float norm = norms[i].item<float>();
      has_zero = has_zero || norm == 0;
      EXPECT_NEAR(norm, norm == 0 ? 0 : std::sqrt(2.0F), 1e-5);
    }
  }
  EXPECT_TRUE(has_zero) << "row 0";
}

TEST_F(OwnTableFile, AnotherSeparatorIsNamedAndRead) {
  write("a.csv", csv(300));
  write("semicolons.csv", csv(300, ';'));
  write("bars.tsv", csv(300, '|'));
  write("quoted.csv", "\"x\";\"kind\"\n\"1\";\"no\"\n");
  EXPECT_NE(refusal("semicolons.csv")
                .find("Its fields are separated by ';', not by ',': give the option `separator: \";\"`"),
            std::string::npos)
      << refusal("semicolons.csv");
  EXPECT_NE(refusal("bars.tsv").find("separated by '|', not by a tab"), std::string::npos)
      << refusal("bars.tsv");
  EXPECT_NE(refusal("quoted.csv").find("followed by ';', but fields are separated by ','"), std::string::npos)
      << refusal("quoted.csv");
  const auto plain = load_dataset("table-file", completed("a.csv").value()).value();
  EXPECT_FALSE(completed("a.csv").value().contains("separator"));
  for (const auto& [file, separator] : {std::pair{"semicolons.csv", ";"}, {"bars.tsv", "|"}}) {
    const auto options = completed(file, {{"separator", separator}});
    ASSERT_TRUE(options) << options.error().message;
    const auto loaded = load_dataset("table-file", *options).value();
    EXPECT_TRUE(at::equal(loaded.private_train.features, plain.private_train.features)) << file;
  }
  for (const char* separator : {"", "ab", "\"", "\n", "."}) {
    EXPECT_NE(refusal("a.csv", {{"separator", separator}}).find("'separator' is one character"),
              std::string::npos);
  }
  write("decimal.csv", "x;kind\n0,5;no\n");
  EXPECT_NE(refusal("decimal.csv", {{"separator", ";"}}).find("written with a point, as in 0.5"),
            std::string::npos);
}

TEST_F(OwnTableFile, AllRowsThatAreWrongAreNamedAtOnce) {
  auto text = csv(100) + "1,no\n2,maybe,3\nblue,no,1\n1,yes,\n";
  write("a.csv", text);
  for (const char* what :
       {"a.csv:102: the record has 2 fields, but 3 are expected", "a.csv:103: the label 'maybe'",
        "a.csv:104: the column 'x' has 'blue'", "a.csv:105: the column 'y' has ''"}) {
    EXPECT_NE(refusal("a.csv").find(what), std::string::npos) << refusal("a.csv");
  }
  for (int i = 0; i < 100; ++i) text += "1\n";
  write("b.csv", text);
  EXPECT_NE(refusal("b.csv").find("... and 84 more, 104 in all."), std::string::npos) << refusal("b.csv");
  EXPECT_EQ(std::ranges::count(refusal("b.csv"), '\n'), 20);
  // Where a quote is not closed nothing behind it can be told.
  write("c.csv", "x,kind\n1\n\"2,no\n3\n");
  EXPECT_NE(refusal("c.csv").find("c.csv:3: a quote is not closed"), std::string::npos) << refusal("c.csv");
  EXPECT_EQ(std::ranges::count(refusal("c.csv"), '\n'), 1);
}

// pandas writes the numbers of the rows into a column without a name, and calls it so when it reads
// it again.
TEST_F(OwnTableFile, AColumnWithoutANameOrWithAnothersIsRefused) {
  const auto numbered = [&](const std::string& name, const std::string& header, char separator) {
    auto text = header;
    for (int i = 0; i < 100; ++i)
      text += fmt::format("\n{1}{0}{1}{0}{2}", separator, i, i % 2 ? "no" : "yes");
    write(name, text);
    return refusal(name);
  };
  for (const auto& said :
       {numbered("a.csv", ",x,kind", ','), numbered("b.tsv", "\tx\tkind", '\t'),
        numbered("c.csv", "\"\",x,kind", ','), numbered("d.csv", "\xEF\xBB\xBF,x,kind", ','),
        numbered("e.csv", " ,x,kind", ',')}) {
    EXPECT_NE(said.find(":1: the column 1 has no name. pandas' to_csv writes the numbers of the rows so"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("index=False"), std::string::npos) << said;
  }
  EXPECT_NE(numbered("f.csv", "x,,kind", ',').find(":1: the column 2 has no name."), std::string::npos);
  const auto again = numbered("g.csv", "Unnamed: 0,x,kind", ',');
  EXPECT_NE(again.find("'Unnamed: 0'"), std::string::npos) << again;
  EXPECT_NE(again.find("index=False"), std::string::npos) << again;
  const auto twice = numbered("h.csv", "x,x,kind", ',');
  EXPECT_NE(twice.find(":1: two columns are called 'x'"), std::string::npos) << twice;
}

TEST_F(OwnTableFile, AByteOrderMarkIsPassedOver) {
  write("a.csv", csv(300));
  write("b.csv", "\xEF\xBB\xBF" + csv(300));
  write("c.csv", "\xEF\xBB\xBFkind,x\nno,1\n" + std::string("yes,2\n"));
  const auto plain = load_dataset("table-file", completed("a.csv").value()).value();
  const auto marked = load_dataset("table-file", completed("b.csv").value()).value();
  EXPECT_TRUE(at::equal(plain.private_train.features, marked.private_train.features));
  EXPECT_NE(refusal("c.csv").find("rows are too few"), std::string::npos) << refusal("c.csv");
}

TEST_F(OwnTableFile, WhatDoesNotFitIsRefused) {
  write("a.csv", csv(100));
  write("a.txt", csv(100));
  write("few.csv", csv(2));
  write("words.csv", "x,kind\n1,no\nblue,yes\n");
  write("bad.csv", "x,kind\n1,maybe\n");
  write("nan.csv", "x,kind\nnan,no\n");
  write("large.csv", "x,kind\n1e60,no\n");
  write("alone.csv", "kind\nno\n");
  write("twice.csv", "kind,kind\nno,no\n");
  write("none.csv", "x,kind\n");
  write("a.libsvm", libsvm(50));
  write("wide/train.csv", csv(100));
  write("wide/test.csv", "x,kind\n1,no\n");
  write("both/train.csv", csv(100));
  write("both/train.tsv", csv(100, '\t'));
  write("empty/other.csv", csv(100));
  const std::vector<std::tuple<const char*, json::object, const char*>> cases = {
      {"a.csv", {{"label", "kinds"}}, ":1: no column is called 'kinds'. Did you mean 'kind'?"},
      {"twice.csv", {}, "more than one column is called 'kind'"},
      {"a.csv", {{"labels", "no"}}, "at least two different classes"},
      {"a.csv", {{"labels", "no, no"}}, "at least two different classes"},
      {"a.csv", {{"labels", "no,, yes"}}, "at least two different classes"},
      {"a.csv", {{"train", 101}}, "'train' asks for 101 rows"},
      {"a.csv", {{"features", 3}}, "has 2 features, not 3"},
      {"a.txt", {}, "must end with .csv, .tsv, .libsvm, .libsvm.gz, .jsonl"},
      {"few.csv", {}, "rows are too few"},
      {"words.csv", {}, "words.csv:3: the column 'x' has 'blue', which is not a number"},
      {"bad.csv", {}, "bad.csv:2: the label 'maybe' is none of the expected ones (no, yes)"},
      {"nan.csv", {}, "'nan', which is not a number"},
      {"large.csv", {}, "'1e60', which is beyond the numbers of float32"},
      {"alone.csv", {}, "no column beside the label"},
      {"none.csv", {}, "no rows beneath its header"},
      {"a.libsvm", {{"labels", "-1, 1"}}, "give 'features'"},
      {"a.libsvm", {{"features", 2}}, "the labels in such a file are numbers, but 'labels' has 'no'"},
      {"wide", {}, "test.csv has 1 features, but"},
      {"both", {}, "only one of them may be there"},
      {"empty", {}, "there is no train.EXT in that folder"}};
  for (const auto& [file, given, what] : cases) {
    EXPECT_NE(refusal(file, given).find(what), std::string::npos) << file << ": " << refusal(file, given);
  }
  EXPECT_NE(complete_options(facts(), resolve_options(facts().options, {}, "x").value())
                .error()
                .message.find("needs 'path'"),
            std::string::npos);
}

TEST_F(OwnTableFile, ThatIsNotHereIsPlannedByTheSizesOfTheSpec) {
  const json::object given = {{"train", 80}, {"validation", 10}, {"test", 10}, {"features", 4}};
  const auto options = completed("nowhere.csv", given);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(facts().sizes(*options).private_train, 80);
  EXPECT_TRUE(load_dataset("table-file", *options).has_error());
  EXPECT_NE(refusal("nowhere.csv").find("must give train, validation, test and features"), std::string::npos);
}

TEST_F(OwnTableFile, AChangedFileIsNotReadUnderTheOldMark) {
  write("a.csv", csv(100));
  const auto options = completed("a.csv").value();
  EXPECT_TRUE(options.contains("files_mark"));
  write("a.csv", csv(101));
  EXPECT_NE(load_dataset("table-file", options).error().message.find("have changed since the spec was read"),
            std::string::npos);
}

TEST_F(OwnTableFile, IsKnownToTheOdometerByItsName) {
  EXPECT_EQ(data_name("table-file", {{"path", "/data/income.csv"}}), "table-file (income)");
  EXPECT_EQ(data_name("table-file", {{"path", "/data/income.libsvm.gz"}}), "table-file (income)");
}

class OwnTexts : public OwnTableFile {
 protected:
  static constexpr int kRows = 60;
  // The tokenizer of the tests, and texts whose row number is their number of words.
  void SetUp() override {
    OwnTableFile::SetUp();
    copy_tokenizer("uncased", "tokenizer");
    write("mail.csv", mail());
  }
  void copy_tokenizer(const std::string& from, const std::string& to) const {
    fs::copy(std::string(HYFREEDP_TEST_DATA) + "/text/word_pieces/" + from, path(to));
    for (const char* file : {"/config.json", "/model.safetensors"}) write(to + file, "{}");
  }
  static std::string mail(int first = 0) {
    std::string text = "number,kind,text,other\n";
    for (int i = first; i < first + kRows; ++i) {
      std::string words;
      for (int word = 0; word < i; ++word) words += word % 2 == 0 ? "hello " : "World, ";
      text += fmt::format("{},{},\"{}\",again\n", i, i % 2 == 0 ? "no" : "yes", words);
    }
    return text;
  }
  json::object texts(json::object more = {}) const {
    json::object given{{"text", "text"}, {"tokenizer", path("tokenizer")}, {"length", 12}};
    for (const auto& one : more) given[one.key()] = one.value();
    return given;
  }
};

TEST_F(OwnTexts, AreTheTokensOfTheirTokenizer) {
  const auto options = completed("mail.csv", texts());
  ASSERT_TRUE(options) << options.error().message;
  const auto sizes = datasets::sizes(facts(), *options);
  EXPECT_EQ(sizes.length, 12);
  EXPECT_EQ(sizes.classes, 2);
  EXPECT_EQ(sizes.labels, LabelKind::classes);
  auto pieces = WordPieces::load(path("tokenizer")).value();
  EXPECT_EQ(sizes.vocabulary, pieces.vocabulary());
  for (int twice = 0; twice < 2; ++twice) {  // from the file, and from the cache
    const auto data = load_dataset("table-file", *options);
    ASSERT_TRUE(data) << data.error().message;
    std::int64_t rows = 0;
    for (const auto* split : {&data->private_train, &data->private_validation, &data->test}) {
      ASSERT_EQ(split->features.scalar_type(), at::kLong);
      rows += split->features.size(0);
      for (std::int64_t i = 0; i < split->features.size(0); ++i) {
        const auto ids = split->features[i];
        // [CLS] w words [SEP]; every second word has a comma
        const auto tokens = (ids != pieces.marks().padding).sum().item<std::int64_t>() - 2;
        if (tokens < 10) {
          EXPECT_EQ((2 * tokens + 2) / 3 % 2, split->labels[i].item<std::int64_t>());
        }
        EXPECT_EQ(ids[0].item<std::int64_t>(), pieces.encode("").empty() ? 2 : -1);
      }
    }
    EXPECT_EQ(rows, kRows);
  }
}

TEST_F(OwnTexts, RowsWithoutATextAreTold) {
  write("full.csv", mail(1));
  const auto notes_of = [&](const std::string& file, const json::object& more) {
    Notes notes;
    json::object given = texts(more);
    given["path"] = path(file);
    given["label"] = "kind";
    given["labels"] = "no, yes";
    EXPECT_TRUE(
        complete_options(facts(), resolve_options(facts().options, given, "table-file").value(), &notes));
    return notes;
  };
  EXPECT_EQ(notes_of("mail.csv", {}),
            Notes{path("mail.csv") + ": 1 of 60 rows lack a text; each is an example with an empty one"});
  EXPECT_EQ(notes_of("full.csv", {}), Notes{});
  EXPECT_EQ(notes_of("mail.csv", {{"text", "other"}, {"second", "text"}}).size(), 1U);
}

TEST_F(OwnTexts, APairHasBoth) {
  const auto options = completed("mail.csv", texts({{"second", "other"}}));
  ASSERT_TRUE(options) << options.error().message;
  const auto data = load_dataset("table-file", *options).value();
  const auto separators = (data.private_train.features == 3).sum(1);
  EXPECT_TRUE((separators == 2).all().item<bool>());
  // The network learns where the second text begins.
  EXPECT_EQ(sizes(TableFile::facts(), *options).separator, 3);
  EXPECT_EQ(sizes(TableFile::facts(), completed("mail.csv", texts()).value()).separator, std::nullopt);
}

TEST_F(OwnTexts, ATestSetMeansTheSameByClassesAndIds) {
  const auto said = [&](json::object tested) {
    const auto note = same_reading_note(completed("mail.csv", texts()).value(),
                                        completed("mail.csv", std::move(tested)).value());
    return note ? *note : "refused: " + note.error().message;
  };
  EXPECT_EQ(said(texts()), "");
  EXPECT_NE(said(texts({{"labels", "yes, no"}})).find("refused: 'labels' has the classes in another order"),
            std::string::npos);
  EXPECT_NE(said(texts({{"second", "other"}})).find("refused: one of it"), std::string::npos);
  copy_tokenizer("cased", "cased");
  EXPECT_NE(said(texts({{"tokenizer", path("cased")}})).find("refused: its texts are cut by another"),
            std::string::npos);
  EXPECT_NE(same_reading_note({{"labels", "0, 1"}}, {{"labels", "no, yes"}})
                .value()
                .find("The classes of the test set are no, yes"),
            std::string::npos);
}

TEST_F(OwnTexts, WhatDoesNotFitIsRefused) {
  const auto refusal = [&](json::object given) {
    const auto options = completed("mail.csv", std::move(given));
    return options ? std::string("accepted") : options.error().message;
  };
  EXPECT_NE(refusal(texts({{"text", "body"}})).find("no column is called 'body'"), std::string::npos);
  EXPECT_NE(refusal(texts({{"second", "more"}})).find("no column is called 'more'"), std::string::npos);
  EXPECT_NE(refusal(texts({{"second", "text"}})).find("a pair is of two columns"), std::string::npos);
  EXPECT_NE(refusal(texts({{"label", ""}})).find("Texts without a class are read by the dataset 'text-file'"),
            std::string::npos);
  EXPECT_NE(refusal(texts({{"features", 7}})).find("'features' is not read with 'text'"), std::string::npos);
  EXPECT_EQ(refusal(completed("mail.csv", texts()).value()), "accepted");
  EXPECT_NE(refusal(texts({{"normalise", "norm"}})).find("'normalise' is not read"), std::string::npos);
  EXPECT_NE(refusal({{"text", "text"}}).find("needs 'tokenizer'"), std::string::npos);
  EXPECT_NE(refusal({{"length", 12}}).find("'length' is read only with 'text'"), std::string::npos);
  EXPECT_NE(refusal(texts({{"tokenizer", "no-such"}})).find("no-such"), std::string::npos);
  EXPECT_NE(refusal(texts({{"tokenizer_sha256", std::string(64, '0')}})).find("SHA-256"), std::string::npos);
  EXPECT_NE(refusal(texts({{"labels", "no, \"yes, perhaps\""}})).find("is cut at every comma"),
            std::string::npos);
  // A tokenizer that changed after the spec was read.
  const auto options = completed("mail.csv", texts()).value();
  std::ofstream(path("tokenizer") + "/vocab.txt", std::ios::app) << "more\n";
  const auto data = load_dataset("table-file", options);
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message.find("is not the one"), std::string::npos);
}

// Under another tokenizer, another length and another class: the records are the texts.
TEST_F(OwnTexts, AreTheSameDataUnderAnotherTokenizer) {
  write("half.csv", mail(kRows / 2));
  copy_tokenizer("cased", "cased");
  ASSERT_TRUE(completed("mail.csv", texts()));
  const auto other = completed("half.csv", texts({{"tokenizer", path("cased")}, {"length", 30}}));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_FALSE(content_marks(own_mark(*other)).common_train.empty());
  // As the first text of pairs, and of files that were first read by another column.
  write("pairs.csv", mail(kRows / 2) + "9,no,more,more\n");
  ASSERT_TRUE(completed("pairs.csv", texts({{"text", "other"}})));
  const auto pairs = completed("pairs.csv", texts({{"second", "other"}}));
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_FALSE(content_marks(own_mark(*pairs)).common_train.empty());
  write("apart.csv", mail(1000));
  const auto apart = completed("apart.csv", texts());
  EXPECT_TRUE(content_marks(own_mark(*apart)).common_train.empty());
}

// Numbers of files that were read as texts before are marked all the same.
TEST_F(OwnTexts, NumbersAreMarkedAfterTexts) {
  const auto numbers = [](int first) {
    std::string rows = "label,x,y\n";
    for (int i = first; i < first + 200; ++i)
      rows += fmt::format("{},{},{}\n", i % 2 == 0 ? "no" : "yes", i, 7 * i);
    return rows;
  };
  write("all.csv", numbers(0));
  write("half.csv", numbers(100));
  ASSERT_TRUE(completed("all.csv", texts({{"text", "x"}, {"label", "label"}})));
  ASSERT_TRUE(completed("all.csv", {{"label", "label"}}));
  const auto half = completed("half.csv", {{"label", "label"}});
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_FALSE(content_marks(own_mark(*half)).common_train.empty());
}

// A folder of texts that are all different, of ids of which half are in both files, and of twenty
// topics.
class RepeatedColumns : public OwnTexts {
 protected:
  void SetUp() override {
    OwnTexts::SetUp();
    for (const auto& [file, first] : {std::pair{"train", 0}, std::pair{"test", kRows / 2}}) {
      std::string rows = "kind,text,id,topic\n";
      for (int i = first; i < first + kRows; ++i)
        rows += fmt::format("{},hello {} {},{},topic {}\n", i % 2 == 0 ? "no" : "yes", file, i, i, i % 20);
      write(fmt::format("own/{}.csv", file), rows);
    }
  }
};

// A reading that is refused says nothing of another one.
TEST_F(RepeatedColumns, ARefusedReadingIsForgotten) {
  ASSERT_TRUE(completed("own", texts()));
  const auto refused = completed("own", texts({{"text", "id"}}));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("other_people"), std::string::npos) << refused.error().message;
  const auto again = completed("own", texts());
  EXPECT_TRUE(again) << again.error().message;
}

// Questions about one text: no pair is in both files.
TEST_F(RepeatedColumns, ATextOfSeveralPairsIsNoTestRecord) {
  const auto pairs = completed("own", texts({{"second", "topic"}}));
  EXPECT_TRUE(pairs) << pairs.error().message;
}

TEST_F(OwnTexts, JsonLinesAreReadByTheirMembers) {
  std::string lines;
  for (int i = 0; i < kRows; ++i)
    lines += fmt::format("{{\"text\": \"hello {}\", \"id\": [{}], \"kind\": {}}}\n", i, i, i % 2);
  write("mail.jsonl", lines);
  const auto given = texts({{"label", "kind"}, {"labels", "0, 1"}});
  const auto options = completed("mail.jsonl", given);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(datasets::sizes(facts(), *options).padding,
            WordPieces::load(path("tokenizer")).value().marks().padding);
  const auto data = load_dataset("table-file", *options);
  ASSERT_TRUE(data) << data.error().message;
  const auto& train = data->private_train;
  for (std::int64_t i = 0; i < train.features.size(0); ++i)
    EXPECT_EQ(train.features[i][1].item<std::int64_t>() > 3, true);
  const auto refusal = [&](const std::string& text, json::object more) {
    write("wrong.jsonl", text);
    const auto read = completed("wrong.jsonl", std::move(more));
    return read ? std::string("accepted") : read.error().message;
  };
  const auto said = refusal(lines + "{\"text\": 7, \"kind\": 0}\n{\"text\": \"a\", \"kind\": 2}\n", given);
  EXPECT_NE(said.find("wrong.jsonl:61: 'text' is 7, and not a text."), std::string::npos) << said;
  EXPECT_NE(said.find("wrong.jsonl:62: the label '2' is none of the expected ones"), std::string::npos)
      << said;
  EXPECT_NE(refusal("{\"txt\": \"a\", \"kind\": 0}\n", given).find("has no field 'text'"), std::string::npos);
  EXPECT_NE(refusal(lines, {{"label", "kind"}}).find("give 'text'"), std::string::npos);
}

}  // namespace
}  // namespace hyfreedp::datasets
