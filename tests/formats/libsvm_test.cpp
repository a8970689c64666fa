#include "datasets/formats/libsvm.h"

#include "harness/base/files.h"
#include "tests/datasets/scratch.h"
#include "tests/formats/expect_error.h"
#include "tests/formats/written.h"
#include "tests/images/peak_memory.h"

namespace hyfreedp::datasets {
namespace libsvm_test {

const LibsvmShape kShape = {.features = 4, .labels = {-1, 1}};

class Libsvm : public Scratch {
 protected:
  Result<NumberTable> read(const std::string& text, const LibsvmShape& shape = kShape) const {
    written(path("a.txt"), text);
    return read_libsvm(path("a.txt"), shape);
  }
  testing::AssertionResult fails(const std::string& text, const std::string& at,
                                 const std::string& what) const {
    return fails_with(read(text), path("a.txt") + at, what);
  }
};

TEST_F(Libsvm, SparseLinesBecomeDenseRows) {
  const std::string text = "+1 1:0.5 3:-2e-1 \r\n-1.0\t4:+7\n1\n-1 2:1e-60 4:.25";
  const std::vector<float> features = {0.5F, 0, -0.2F, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0.25F};
  const auto table = read(text);
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->features, features);
  EXPECT_EQ(table->labels, (std::vector<std::int64_t>{1, 0, 1, 0}));
  write_gz("a.gz", {text.begin(), text.end()});
  const auto unpacked = read_libsvm(path("a.gz"), kShape);
  ASSERT_TRUE(unpacked.has_value());
  EXPECT_EQ(unpacked->features, features);
  // Class c is labels[c], whatever the file has first.
  const auto others = read("7\n3\n5\n", {.features = 1, .labels = {3, 5, 7}});
  ASSERT_TRUE(others.has_value());
  EXPECT_EQ(others->labels, (std::vector<std::int64_t>{2, 0, 1}));
}

TEST_F(Libsvm, CommentsAndAByteOrderMarkArePassedOver) {
  const auto table = read("\xEF\xBB\xBF# of svm-light\n+1 1:0.5 # the first\n  # none\n-1 4:7#last\n");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->features, (std::vector<float>{0.5F, 0, 0, 0, 0, 0, 0, 7}));
  EXPECT_EQ(table->labels, (std::vector<std::int64_t>{1, 0}));
  EXPECT_TRUE(fails("# nothing else\n", ": ", "has no examples"));
  EXPECT_TRUE(fails("# a comment\n2 1:1\n", ":2: ", "the label '2'"));
  EXPECT_TRUE(fails(std::string("\xFF\xFE"
                                "1\0",
                                4),
                    ": ", "is text in UTF-16"));
}

TEST_F(Libsvm, AllLinesThatAreWrongAreNamedAtOnce) {
  const auto table = read("1 1:1\n7 1:1\n-1 9:1\n\n1 2:x\n");
  ASSERT_TRUE(table.has_error());
  for (const char* what :
       {":2: the label '7'", ":3: the index in '9:1'", ":4: the line is empty", ":5: the value in '2:x'"}) {
    EXPECT_NE(table.error().message.find(path("a.txt") + what), std::string::npos) << table.error().message;
  }
}

TEST_F(Libsvm, WhatIsMalformedIsNamedWithItsLine) {
  EXPECT_TRUE(fails("", ": ", "has no examples"));
  EXPECT_TRUE(fails("1\n\n1\n", ":2: ", "the line is empty"));
  EXPECT_TRUE(fails("1\n   \n", ":2: ", "the line is empty"));
  EXPECT_TRUE(fails("1\n2 1:1\n", ":2: ", "the label '2' is none of the expected ones (-1, 1)"));
  EXPECT_TRUE(fails("nan 1:1\n", ":1: ", "the label 'nan'"));
  EXPECT_TRUE(fails("1:1 2:1\n", ":1: ", "the label '1:1'"));
  EXPECT_TRUE(fails("+-1\n", ":1: ", "the label '+-1'"));
  EXPECT_TRUE(fails("1 0:1\n", ":1: ", "the index in '0:1' is outside 1 to 4"));
  EXPECT_TRUE(fails("1 5:1\n", ":1: ", "'5:1' is outside 1 to 4"));
  EXPECT_TRUE(fails("1 -1:1\n", ":1: ", "outside 1 to 4"));
  EXPECT_TRUE(fails("1 99999999999999999999:1\n", ":1: ", "not INDEX:VALUE"));
  EXPECT_TRUE(fails("1 2:1 2:1\n", ":1: ", "the index 2 is given twice"));
  EXPECT_TRUE(fails("1 3:1 2:1\n", ":1: ", "the index 2 comes after 3"));
  for (const auto* value : {"nan", "inf", "-inf", "1e39", "1e999", "", "1x", "0x10", "1:2", "--1", "+-1"}) {
    EXPECT_TRUE(fails("1\n1 2:" + std::string(value) + "\n", ":2: ", "is not a finite number")) << value;
  }
  for (const auto* field : {"2", "a:1", ":1", "2.5:1", "qid:3", "+2:1"}) {
    EXPECT_TRUE(fails("1 " + std::string(field) + "\n", ":1: ", "is not INDEX:VALUE")) << field;
  }
  EXPECT_TRUE(fails(std::string("1 1:1\0002:2\n", 11), ":1: ", "'1:1\\x002:2'"));
  EXPECT_TRUE(fails("1 " + std::string(1000, 'x'), ":1: ", std::string(40, 'x') + "...'"));
  EXPECT_TRUE(fails("BZh91AY&SY", ": ", "packed with bzip2"));
  EXPECT_TRUE(
      fails("\xFD"
            "7zXZ",
            ": ", "packed with xz"));
  EXPECT_TRUE(fails_with(read_libsvm(path("absent"), kShape), path("absent"), "cannot open"));
}

TEST_F(Libsvm, DeclaredWidthsDoNotMultiplyWithoutBounds) {
  const PeakMemory memory;
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "1\n";
  // 100,000 rows of a million features would be 400 GB.
  const LibsvmShape wide = {.features = 1'000'000, .labels = {1}, .max_values = 4'000'000};
  EXPECT_TRUE(
      fails_with(read(many, wide), path("a.txt") + ":5: ", "more than 4 examples of 1000000 features"));
  EXPECT_LE(memory.megabytes(), 64);
  EXPECT_TRUE(read("1\n1\n1\n1\n", wide).has_value());
}

TEST_F(Libsvm, ATruncatedGzipIsAnError) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "1 1:" + std::to_string(i * 7919 % 1000) + "\n";
  write_gz("a.gz", {text.begin(), text.end()});
  const auto whole = *read_file(path("a.gz"));
  for (const std::size_t cut : {std::size_t{1}, std::size_t{9}, whole.size() / 2}) {
    written(path("cut.gz"), whole.substr(0, whole.size() - cut));
    EXPECT_TRUE(fails_with(read_libsvm(path("cut.gz"), kShape), path("cut.gz"), "damaged")) << cut;
  }
}

}  // namespace libsvm_test
}  // namespace hyfreedp::datasets
