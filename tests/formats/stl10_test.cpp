#include "datasets/formats/stl10.h"

#include "tests/datasets/scratch.h"
#include "tests/formats/expect_error.h"
#include "tests/formats/tar.h"
#include "tests/formats/written.h"

namespace hyfreedp::datasets {
namespace stl10_test {

constexpr std::size_t kSide = 96;
constexpr std::size_t kPixels = 3 * kSide * kSide;

std::uint8_t pixel(int seed, std::size_t channel, std::size_t row, std::size_t column) {
  return static_cast<std::uint8_t>(seed + 7 * static_cast<int>(channel) +
                                   static_cast<int>(row * 3 + column * 5));
}

// An image as the format has it: column by column.
std::string stored(int seed) {
  std::string bytes;
  for (std::size_t channel = 0; channel < 3; ++channel)
    for (std::size_t column = 0; column < kSide; ++column)
      for (std::size_t row = 0; row < kSide; ++row)
        bytes += static_cast<char>(pixel(seed, channel, row, column));
  return bytes;
}

NamedBytes files() {
  return {{"stl10_binary/class_names.txt", "airplane\n"},
          {"stl10_binary/test_X.bin", stored(50)},
          {"stl10_binary/test_y.bin", "\x0a"},
          {"stl10_binary/train_y.bin", "\x01\x05"},
          {"stl10_binary/unlabeled_X.bin", std::string(3 * kPixels, 'u')},
          {"stl10_binary/train_X.bin", stored(1) + stored(2)}};
}

class Stl10 : public Scratch {};

TEST_F(Stl10, ColumnsBecomeRows) {
  const auto two = stored(1) + stored(2);
  const auto images = parse_stl10({"x", two}, {"y", "\x0a\x01"});
  ASSERT_TRUE(images.has_value()) << images.error().message;
  EXPECT_EQ(images->count, 2);
  EXPECT_EQ(images->channels, 3);
  EXPECT_EQ(images->height, 96);
  EXPECT_EQ(images->width, 96);
  EXPECT_EQ(images->labels, (std::vector<std::int64_t>{9, 0}));
  ASSERT_EQ(images->pixels.size(), 2 * kPixels);
  std::size_t at = 0;
  for (const int seed : {1, 2})
    for (std::size_t channel = 0; channel < 3; ++channel)
      for (std::size_t row = 0; row < kSide; ++row)
        for (std::size_t column = 0; column < kSide; ++column)
          ASSERT_EQ(images->pixels[at++], pixel(seed, channel, row, column))
              << channel << " " << row << " " << column;
}

TEST_F(Stl10, LengthsAndLabelsAreChecked) {
  const auto one = stored(1);
  EXPECT_TRUE(fails_with(parse_stl10({"the x", ""}, {"the y", ""}), "the x: ", "has 0 bytes"));
  EXPECT_TRUE(fails_with(parse_stl10({"the x", one.substr(1)}, {"the y", "\x01"}),
                         "the x: ", "images of 27648 bytes"));
  EXPECT_TRUE(fails_with(parse_stl10({"the x", one + "z"}, {"the y", "\x01"}), "the x: ", "has 27649 bytes"));
  EXPECT_TRUE(fails_with(parse_stl10({"the x", one}, {"the y", "\x01\x01"}),
                         "the y: ", "has 2 labels, but the x has 1 images"));
  EXPECT_TRUE(fails_with(parse_stl10({"the x", one}, {"the y", std::string_view("\0", 1)}),
                         "the y: ", "record 0 has the label 0"));
  EXPECT_TRUE(
      fails_with(parse_stl10({"the x", one}, {"the y", "\x0b"}), "the y: ", "label 11; expected is 1 to 10"));
}

TEST_F(Stl10, ATarsUnlabelledImagesArePassedOver) {
  write_gz("stl10.tar.gz", tar_of(files()));
  // The published unlabelled file is larger than any file that is read.
  const auto splits = read_stl10(path("stl10.tar.gz"), Stl10Labels::own, {.file_bytes = 2 * kPixels});
  ASSERT_TRUE(splits.has_value()) << splits.error().message;
  EXPECT_EQ(splits->train.labels, (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(splits->test.labels, (std::vector<std::int64_t>{9}));
  EXPECT_EQ(splits->train.pixels[kPixels + 1], pixel(2, 0, 0, 1));
  EXPECT_EQ(splits->test.pixels[1], pixel(50, 0, 0, 1));
  EXPECT_TRUE(fails_with(read_stl10(path("stl10.tar.gz"), Stl10Labels::own, {.file_bytes = 2 * kPixels - 1}),
                         path("stl10.tar.gz"), "train_X.bin has 55296 bytes"));
  for (const auto& [name, bytes] : files()) {
    written(path("folder/" + name), bytes);
  }
  const auto again = read_stl10(path("folder"));
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->train, splits->train);
  EXPECT_EQ(again->test, splits->test);
}

TEST_F(Stl10, WhatIsMissingOrDoesNotFitIsNamed) {
  auto some = files();
  some.erase(some.begin() + 3);
  write_gz("a", tar_of(some));
  EXPECT_TRUE(fails_with(read_stl10(path("a")), path("a"), "has no train_y.bin"));
  some = files();
  some[2].second += '\x01';
  write_gz("b", tar_of(some));
  EXPECT_TRUE(fails_with(read_stl10(path("b")), path("b") + ": stl10_binary/test_y.bin", "has 2 labels"));
  some = files();
  some.emplace_back("test_X.bin", stored(1));
  write_gz("c", tar_of(some));
  EXPECT_TRUE(fails_with(read_stl10(path("c")), path("c"), "has test_X.bin twice"));
}

}  // namespace stl10_test
}  // namespace hyfreedp::datasets
