#include "datasets/formats/csv.h"

#include "harness/base/files.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::datasets {
namespace csv_test {

using Fields = std::vector<std::string>;

class Csv : public Scratch {
 protected:
  Result<std::vector<CsvRecord>> read(const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(path("a.csv"), text).has_value());
    return read_csv(path("a.csv"), {"a", "b"});
  }
};

TEST_F(Csv, FieldsMayBeQuotedAndLinesEndEitherWay) {
  const auto records = read("a,b\r\n1,\n\"x, \"\"y\"\"\nz\",\"\"\r\n,2\r");
  ASSERT_TRUE(records.has_value()) << records.error().message;
  ASSERT_EQ(records->size(), 3U);
  EXPECT_EQ((*records)[0].fields, (Fields{"1", ""}));
  EXPECT_EQ((*records)[1].fields, (Fields{"x, \"y\"\nz", ""}));
  EXPECT_EQ((*records)[2].fields, (Fields{"", "2"}));
  EXPECT_EQ((*records)[0].line, 2U);
  EXPECT_EQ((*records)[1].line, 3U);
  EXPECT_EQ((*records)[2].line, 5U);
  EXPECT_EQ(read("a,b\n1,2\n\r\n\n").value().size(), 1U) << "blank lines at the end";
  const auto none = read("a,b");
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->empty());
}

TEST_F(Csv, WhatIsMalformedIsNamedWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ":1: the first line must be a,b."},
      {"a,c\n", ":1: the first line must be a,b."},
      {"a,b\n1,2\n3\n", ":3: the record has 1 field, but 2 are expected"},
      {"a,b\n1,2,3\n", ":2: the record has 3 fields, but 2 are expected"},
      {"a,b\n\"x\ny\",2\n\n3,4\n", ":4: the record has 1 field, but 2 are expected"},
      {"a,b\n1,2\n\"3,\n4", ":3: a quote is not closed"},
      {"a,b\n1,2\"\n", ":2: a quote inside a field"},
      {"a,b\r1,2\r", ":1: a carriage return alone ends no line"},
      {"a,b\n\"1\"x,2\n", ":2: text behind a closing quote"}};
  for (const auto& [text, what] : cases) {
    const auto records = read(text);
    ASSERT_TRUE(records.has_error()) << text;
    EXPECT_NE(records.error().message.find("a.csv" + what), std::string::npos) << records.error().message;
  }
  EXPECT_TRUE(read_csv(path("none.csv"), {"a"}).has_error());
}

// Excel writes the mark before UTF-8, and "Unicode text" as UTF-16.
TEST_F(Csv, AByteOrderMarkIsNoPartOfTheText) {
  const auto records = read(
      "\xEF\xBB\xBF"
      "a,b\n1,2\n");
  ASSERT_TRUE(records.has_value()) << records.error().message;
  EXPECT_EQ(records->front().fields, (Fields{"1", "2"}));
  EXPECT_EQ(records->front().line, 2U);
}

TEST_F(Csv, OtherEncodingsAreNamedWithWhatConvertsThem) {
  const auto utf16 = [](std::string_view text, bool little_endian) {
    std::string wide;
    for (const char c : text) wide += little_endian ? std::string{c, '\0'} : std::string{'\0', c};
    return wide;
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xFF\xFE" + utf16("a,b\n1,2\n", true), "iconv -f UTF-16 -t UTF-8"},
      {"\xFE\xFF" + utf16("a,b\n1,2\n", false), "iconv -f UTF-16 -t UTF-8"},
      {utf16("a,b\n1,2\n", true), "iconv -f UTF-16LE -t UTF-8"},
      {utf16("a,b\n1,2\n", false), "iconv -f UTF-16BE -t UTF-8"},
      {std::string("\xFF\xFE\0\0a\0\0\0", 8), "iconv -f UTF-32 -t UTF-8"}};
  for (const auto& [text, what] : cases) {
    const auto records = read(text);
    ASSERT_TRUE(records.has_error()) << what;
    EXPECT_NE(records.error().message.find(what), std::string::npos) << records.error().message;
    EXPECT_NE(records.error().message.find("a.csv: is text in UTF-"), std::string::npos);
  }
  const auto latin = read("a,b\n1,2\ncaf\xE9,3\nt\xE9,4\n");
  ASSERT_TRUE(latin.has_error());
  EXPECT_EQ(latin.error().message,
            path("a.csv") +
                ":3: the byte 0xE9 is no text in UTF-8. Convert the file; where it is in Latin-1: `iconv -f "
                "ISO-8859-1 -t UTF-8 FILE > NEW_FILE`.");
}

}  // namespace csv_test
}  // namespace hyfreedp::datasets
