#include "datasets/formats/json_lines.h"

#include "datasets/formats/lines.h"
#include "tests/datasets/scratch.h"
#include "tests/formats/expect_error.h"
#include "tests/formats/written.h"
#include "tests/images/peak_memory.h"

namespace hyfreedp::datasets {
namespace json_lines_test {

class JsonLines : public Scratch {
 protected:
  Result<void> read(const std::string& text, const std::vector<std::string>& fields,
                    std::size_t max_line = 1000) {
    written(path("a.jsonl"), text);
    return read_at("a.jsonl", fields, max_line);
  }
  Result<void> read_at(const std::string& name, const std::vector<std::string>& fields,
                       std::size_t max_line = 1000) {
    records_.clear();
    const auto take = [this](const std::string& where, std::span<const json::value> values) -> Result<void> {
      std::string record = where.substr(where.rfind(':'));
      for (const auto& value : values) record += " " + canonical_json(value);
      records_.push_back(record);
      return {};
    };
    return visit_json_lines(path(name), fields, take, max_line);
  }
  testing::AssertionResult fails(const std::string& text, const std::string& at, const std::string& what) {
    return fails_with(read(text, {"text", "label"}), path("a.jsonl") + at, what);
  }
  std::vector<std::string> records_;
};

TEST_F(JsonLines, GivesTheWantedFieldsOfEachLine) {
  const std::string text =
      "{\"label\": 1, \"text\": \"a\\nb\", \"id\": {\"x\": []}}\r\n "
      "{\"text\":\"K\xC3\xA4se\",\"label\":[0.5,null]}";
  const std::vector<std::string> expected = {":1 \"a\\nb\" 1", ":2 \"K\xC3\xA4se\" [0.5,null]"};
  const auto visited = read(text, {"text", "label"});
  ASSERT_TRUE(visited.has_value()) << visited.error().message;
  EXPECT_EQ(records_, expected);
  write_gz("a.gz", {text.begin(), text.end()});
  ASSERT_TRUE(read_at("a.gz", {"text", "label"}).has_value());
  EXPECT_EQ(records_, expected);
}

TEST_F(JsonLines, AByteOrderMarkIsPassedOverAndUtf16IsNamed) {
  const std::string good = "{\"text\":\"a\",\"label\":0}\n";
  ASSERT_TRUE(read("\xEF\xBB\xBF" + good + good, {"text", "label"}).has_value());
  EXPECT_EQ(records_, (std::vector<std::string>{":1 \"a\" 0", ":2 \"a\" 0"}));
  EXPECT_TRUE(fails(std::string("\xFF\xFE{\0", 4), ": ", "iconv -f UTF-16 -t UTF-8"));
  EXPECT_TRUE(fails(good + "\xEF\xBB\xBF" + good, ":2: ", "not valid JSON"))
      << "it is a mark at the start alone";
}

TEST_F(JsonLines, WhatIsMalformedIsNamedWithItsLine) {
  const std::string good = "{\"text\":\"a\",\"label\":0}\n";
  EXPECT_TRUE(fails("", ": ", "has no records"));
  EXPECT_TRUE(fails(good + "\n" + good, ":2: ", "the line is empty"));
  EXPECT_TRUE(fails(good + "[1]\n", ":2: ", "expected is a JSON object, found [1]"));
  EXPECT_TRUE(fails(good + "{\"text\":\"a\"}\n", ":2: ", "has no field 'label'"));
  EXPECT_TRUE(fails("{\"text\":\"a\",\"labl\":1}\n", ":1: ", "Did you mean 'labl'?"));
  EXPECT_TRUE(fails(good + good.substr(0, 15), ":2: ", "not valid JSON"));
  EXPECT_TRUE(fails(good.substr(0, good.size() - 1) + good, ":1: ", "not valid JSON"));
  EXPECT_TRUE(fails("{\"text\":\"a\",\"label\":NaN}\n", ":1: ", "not valid JSON"));
  EXPECT_TRUE(fails("{\"text\":\"a\",\"label\":1e999}\n", ":1: ", "'label' is too large"));
  EXPECT_TRUE(fails("{\"text\":\"\xFF\",\"label\":1}\n", ":1: ", "not valid JSON"));
  EXPECT_TRUE(fails("{\"text\":\"a\",\"label\":1,\"label\":2}\n", ":1: ", "'label' is given twice"));
  EXPECT_TRUE(fails(std::string(900, '['), ":1: ", "not valid JSON"));
  EXPECT_TRUE(fails("{\"text\":\"" + std::string(1000, 'a'), ":1: ", "more than 1000 bytes"));
  EXPECT_TRUE(fails_with(read_at("absent", {}), path("absent"), "cannot open"));
}

TEST_F(JsonLines, AVisitorsErrorEndsTheReading) {
  written(path("a.jsonl"), "{}\n{}\n{}\n");
  int visits = 0;
  const auto visited =
      visit_json_lines(path("a.jsonl"), {}, [&](const std::string& where, auto) -> Result<void> {
        if (++visits == 2) return error(where + " enough");
        return {};
      });
  EXPECT_TRUE(fails_with(visited, path("a.jsonl") + ":2", "enough"));
  EXPECT_EQ(visits, 2);
}

// 200 MB of one line, of which the gzip has 0.9 MB.
TEST_F(JsonLines, ALineThatDoesNotEndIsNotKept) {
  const gzFile file = gzopen(path("long.gz").c_str(), "wb1");
  const std::string piece(1'000'000, '1');
  for (int i = 0; i < 200; ++i) ASSERT_EQ(gzwrite(file, piece.data(), 1'000'000), 1'000'000);
  gzclose(file);
  const PeakMemory memory;
  EXPECT_TRUE(
      fails_with(read_at("long.gz", {}, 1'000'000), path("long.gz") + ":1: ", "more than 1000000 bytes"));
  EXPECT_LE(memory.megabytes(), 64);
}

// Lines of all lengths around that of a piece that is read at once.
TEST_F(JsonLines, LinesMayLieAcrossPieces) {
  std::string text;
  std::vector<std::string> expected;
  for (const std::size_t length : {262'143U, 262'144U, 262'145U, 0U, 1U, 600'000U, 3U}) {
    expected.emplace_back(length, static_cast<char>('a' + expected.size()));
    text += expected.back() + (expected.size() % 2 == 0 ? "\n" : "\r\n");
  }
  written(path("lines"), text);
  auto reader = LineReader::open(path("lines"), 600'001);
  ASSERT_TRUE(reader.has_value());
  for (const auto& line : expected) {
    const auto next = reader->next();
    ASSERT_TRUE(next.has_value()) << next.error().message;
    ASSERT_TRUE(next->has_value());
    EXPECT_EQ(**next, line);
  }
  EXPECT_EQ(reader->where(), path("lines") + ":7");
  const auto end = reader->next();
  ASSERT_TRUE(end.has_value());
  EXPECT_FALSE(end->has_value());
}

}  // namespace json_lines_test
}  // namespace hyfreedp::datasets
