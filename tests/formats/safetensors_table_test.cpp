#include "datasets/formats/safetensors_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::datasets {
namespace safetensors_table_test {

using ::testing::HasSubstr;

const std::vector<double> kClasses = {7, 9};

// Files that the Python package safetensors wrote (tests/data/safetensors_table/make.py).
std::string written(const std::string& name) {
  return std::string(HYFREEDP_TEST_DATA) + "/safetensors_table/" + name + ".safetensors";
}

std::string refusal_of(const std::string& path, const std::vector<double>& labels = kClasses) {
  const auto table = read_safetensors_table(path, labels);
  return table ? "taken" : table.error().message;
}

TEST(SafetensorsTable, FeaturesAndClassesOfEveryTypeAreTheSameNumbers) {
  for (const char* name :
       {"half", "bfloat", "float", "double", "labels_i1", "labels_i2", "labels_i4", "labels_u1"}) {
    const auto table = read_safetensors_table(written(name), kClasses);
    ASSERT_TRUE(table) << table.error().message;
    ASSERT_EQ(table->features.size(), 12U) << name;
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(table->features[static_cast<std::size_t>(i)],
                static_cast<float>(i / 3) + static_cast<float>(i % 3) / 4 - 2)
          << name;
    }
    EXPECT_EQ(table->labels, (std::vector<std::int64_t>{0, 1, 1, 0})) << name;
  }
}

TEST(SafetensorsTable, WhatIsNoTableIsRefused) {
  EXPECT_THAT(refusal_of(written("refused_bool")),
              HasSubstr("tensor 'labels': its numbers are of type 'BOOL'"));
  EXPECT_THAT(refusal_of(written("refused_without_labels")), HasSubstr("has no tensor 'labels'"));
  EXPECT_THAT(refusal_of(written("refused_integers")),
              HasSubstr("tensor 'features': its numbers are of type 'i8'"));
  EXPECT_THAT(refusal_of(written("refused_vector")), HasSubstr("tensor 'features': has 1 dimension"));
  EXPECT_THAT(refusal_of(written("float"), {7, 8}), HasSubstr("tensor 'labels': the label 9 at [1]"));
  EXPECT_THAT(refusal_of(written("nowhere")), HasSubstr("nowhere.safetensors"));
}

class ChangedSafetensorsTable : public Scratch {
 protected:
  // Two rows of one feature, 1 and 2, of the classes 9 and 7. `before`: bytes of another tensor.
  std::string made(const std::string& dtype, const std::string& classes, const std::string& padding = "",
                   const std::string& before = "") const {
    const auto at = before.size();
    const auto header =
        fmt::format(
            R"({{"other":{{"dtype":"U8","shape":[{}],"data_offsets":[0,{}]}},"features":{{"dtype":"F32","shape":[2,1],)"
            R"("data_offsets":[{},{}]}},"labels":{{"dtype":"{}","shape":[2],"data_offsets":[{},{}]}}}})",
            at, at, at, at + 8, dtype, at + 8, at + 8 + classes.size()) +
        padding;
    const std::uint64_t length = header.size();
    std::string file(reinterpret_cast<const char*>(&length), sizeof length);
    file += header + before + std::string("\x00\x00\x80\x3F\x00\x00\x00\x40", 8) + classes;
    EXPECT_TRUE(write_file_atomically(path("made"), file));
    return path("made");
  }
  static void expect_read(const std::string& file) {
    const auto table = read_safetensors_table(file, kClasses);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->features, (std::vector<float>{1, 2}));
    EXPECT_EQ(table->labels, (std::vector<std::int64_t>{1, 0}));
  }
};

TEST_F(ChangedSafetensorsTable, UnsignedClassesOfEverySizeAreRead) {
  expect_read(made("U8", "\x09\x07"));
  expect_read(made("U16", std::string("\x09\0\x07\0", 4)));
  expect_read(made("U32", std::string("\x09\0\0\0\x07\0\0\0", 8)));
  expect_read(made("U64", std::string("\x09\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0", 16)));
  EXPECT_THAT(refusal_of(made("F8_E4M3", "\x09\x07")), HasSubstr("unknown dtype 'F8_E4M3'; read are F64,"));
}

// Not all programs pad the header to eight bytes, or write wide elements first.
TEST_F(ChangedSafetensorsTable, TensorsMayBeginAtAnyByte) {
  for (std::size_t shift = 0; shift < 8; ++shift) {
    expect_read(made("U8", "\x09\x07", std::string(shift, ' ')));
    expect_read(made("U8", "\x09\x07", "", std::string(shift, '\1')));
  }
}

TEST_F(ChangedSafetensorsTable, AllNumbersThatAreWrongAreNamedAtOnce) {
  const auto file = made("U8", "\x05\x06");
  EXPECT_THAT(refusal_of(file), HasSubstr("the label 5 at [0]"));
  EXPECT_THAT(refusal_of(file), HasSubstr("the label 6 at [1]"));
}

TEST_F(ChangedSafetensorsTable, EveryTruncationIsAnErrorThatNamesTheFile) {
  const auto bytes = read_file(written("float")).value();
  const auto file = path("a.safetensors");
  const auto with = [&](const std::string& content) {
    EXPECT_TRUE(write_file_atomically(file, content));
    return refusal_of(file);
  };
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(with(bytes.substr(0, length)), HasSubstr(file)) << length;
  }
  EXPECT_EQ(with(bytes), "taken");
  // A number that is not finite, in the place of the features' first one, -2.
  auto infinite = bytes;
  const auto at = infinite.find(std::string("\x00\x00\x00\xc0", 4));
  ASSERT_NE(at, std::string::npos);
  infinite.replace(at, 4, std::string("\x00\x00\x80\x7f", 4));
  EXPECT_THAT(with(infinite), HasSubstr("the number at [0, 0] is not finite"));
}

}  // namespace safetensors_table_test
}  // namespace hyfreedp::datasets
