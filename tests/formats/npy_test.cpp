#include "datasets/formats/npy.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "tests/datasets/scratch.h"
#include "tests/formats/npy_file.h"

namespace hyfreedp::datasets {
namespace npy_test {

const std::vector<double> kLabels = {7, 9};

// Files that NumPy wrote (tests/data/npy/make.py).
std::string numpys(const std::string& name) { return std::string(HYFREEDP_TEST_DATA) + "/npy/" + name; }

std::string refusal(const std::string& features, const std::string& classes,
                    const std::vector<double>& labels = kLabels) {
  const auto table = read_npy(features, classes, labels);
  return table ? "taken" : table.error().message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Npy, FeaturesOfEveryTypeAreTheSameNumbers) {
  for (const char* name : {"half.npy", "float.npy", "double.npy", "version2.npy"}) {
    const auto table = read_npy(numpys(name), numpys("labels_i8.npy"), kLabels);
    ASSERT_TRUE(table) << table.error().message;
    ASSERT_EQ(table->features.size(), 12U) << name;
    for (int i = 0; i < 12; ++i) {
      const auto row = i / 3, column = i % 3;
      EXPECT_EQ(table->features[static_cast<std::size_t>(i)],
                static_cast<float>(row) + static_cast<float>(column) / 4 - 2)
          << name;
    }
    EXPECT_EQ(table->labels, (std::vector<std::int64_t>{0, 1, 1, 0}));
  }
}

TEST(Npy, HalvesAreExactOverTheirRange) {
  const auto table = read_npy(numpys("half_range.npy"), numpys("labels_i8.npy"), kLabels).value();
  EXPECT_EQ(table.features[0], std::ldexp(1.0F, -24));
  EXPECT_EQ(table.features[1], -std::ldexp(1.0F, -14));
  EXPECT_EQ(table.features[2], 65504.0F);
}

TEST(Npy, ClassesAreIntegersOfAnyWidth) {
  for (const char* type : {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}) {
    const auto table = read_npy(numpys("float.npy"), numpys(fmt::format("labels_{}.npy", type)), {9, 7});
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->labels, (std::vector<std::int64_t>{1, 0, 0, 1})) << type;
  }
}

TEST(Npy, WhatIsNoTableOfNumbersIsRefused) {
  const auto labels = numpys("labels_i8.npy"), features = numpys("float.npy");
  EXPECT_TRUE(has(refusal(numpys("refused_fortran.npy"), labels), "Fortran's order"));
  EXPECT_TRUE(has(refusal(numpys("refused_big_endian.npy"), labels), "its type is '>f4'"));
  EXPECT_TRUE(has(refusal(numpys("refused_objects.npy"), labels), "its type is '|O'"));
  EXPECT_TRUE(has(refusal(numpys("refused_complex.npy"), labels), "its type is '<c16'"));
  EXPECT_TRUE(has(refusal(features, labels, {7, 8}), "labels_i8.npy: the label 9 at [1] is none"));
  EXPECT_TRUE(has(refusal(labels, features), "has 1 dimension;"));
  EXPECT_TRUE(has(refusal(features, features), "has 2 dimensions;"));
  EXPECT_TRUE(has(refusal(numpys("make.py"), labels), "make.py: is no .npy file"));
  EXPECT_TRUE(has(refusal(features, numpys("nowhere.npy")), "nowhere.npy"));
}

class ChangedNpy : public Scratch {
 protected:
  // The refusal of float.npy with other bytes.
  std::string with(const std::string& bytes) const {
    EXPECT_TRUE(write_file_atomically(path("a.npy"), bytes));
    const auto said = refusal(path("a.npy"), numpys("labels_i8.npy"));
    EXPECT_TRUE(said == "taken" || has(said, path("a.npy"))) << said;
    return said;
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    auto bytes = bytes_;
    const auto at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return bytes.replace(at, from.size(), to);
  }
  const std::string bytes_ = read_file(numpys("float.npy")).value();
};

TEST_F(ChangedNpy, EveryTruncationAndEveryByteMoreIsAnError) {
  for (std::size_t length = 0; length < bytes_.size(); ++length) {
    EXPECT_NE(with(bytes_.substr(0, length)), "taken") << length;
  }
  EXPECT_TRUE(has(with(bytes_ + '\0'), "has 49 bytes of numbers, but its header describes 48"));
  EXPECT_EQ(with(bytes_), "taken");
}

TEST_F(ChangedNpy, EveryFieldOfTheHeaderIsChecked) {
  EXPECT_TRUE(has(with(replaced("(4, 3)", "(5, 3)")), "but its header describes 60"));
  EXPECT_TRUE(has(with(replaced("(4, 3)", "(3, 4)")), "has 3 rows, but"));
  EXPECT_TRUE(has(with(replaced("(4, 3)", "(0, 3)")), "has no rows or no columns"));
  EXPECT_TRUE(has(with(replaced("(4, 3)", "(-4,3)")), "describes no array of numbers"));
  EXPECT_TRUE(has(with(replaced("(4, 3), }", "(4,1,3),}")), "describes no array of numbers"));
  EXPECT_TRUE(has(with(replaced("(4, 3), }         ", "(999999, 99999), }")), "more than 268435456"));
  EXPECT_TRUE(has(with(replaced("<f4", "<f8")), "but its header describes 96"));
  EXPECT_TRUE(has(with(replaced("<f4", "<i4")), "features are of 16, 32 or 64 bits"));
  EXPECT_TRUE(has(with(replaced("False", "Fals ")), "describes no array of numbers"));
  auto version = bytes_, long_header = bytes_;
  version[6] = 4;
  long_header[9] = 5;
  EXPECT_TRUE(has(with(version), "has version 4 of .npy"));
  EXPECT_TRUE(has(with(long_header), "its header is truncated or too long"));
}

TEST_F(ChangedNpy, NumbersAreFinite) {
  auto bytes = bytes_;
  bytes.replace(bytes.size() - 4, 4, std::string("\x00\x00\x80\x7f", 4));
  EXPECT_TRUE(has(with(bytes), "the number at [3, 2] is not finite"));
}

class NpyImages : public Scratch {
 protected:
  // Three images of 2 x 2 pixels, whose bytes count up, with the classes 2, 0, 1.
  NpyImages() {
    std::string bytes;
    for (char i = 0; i < 36; ++i) bytes += i;
    write("x.npy", npy_head("|u1", "3, 2, 2, 3") + bytes);
    write("y.npy", npy_head("|u1", "3,") + std::string("\2\0\1", 3));
  }
  void write(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(write_file_atomically(path("in/" + name), bytes));
  }
  Result<ImageSet> read(const NpyImageFiles& files) const { return read_npy_images(path("in"), files); }
  std::string refusal(const NpyImageFiles& files) const {
    const auto images = read(files);
    return images ? "taken" : images.error().message;
  }
  const NpyImageFiles all_{.pixels = "x.npy", .labels = "y.npy", .classes = 3};
};

TEST_F(NpyImages, ArePlanesOfOneColour) {
  const auto images = read(all_);
  ASSERT_TRUE(images) << images.error().message;
  EXPECT_EQ(images->count, 3);
  EXPECT_EQ(images->channels * images->height * images->width, 12);
  EXPECT_EQ(images->labels, (std::vector<std::int64_t>{2, 0, 1}));
  const std::vector<std::uint8_t> first(images->pixels.begin(), images->pixels.begin() + 12);
  EXPECT_EQ(first, (std::vector<std::uint8_t>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  auto some = all_;
  some.first = 1;
  const auto last = read(some).value();
  EXPECT_EQ(last.labels, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(last.pixels.front(), 12);
  some.count = 1;
  EXPECT_EQ(read(some)->labels, (std::vector<std::int64_t>{0}));
}

TEST_F(NpyImages, OfOtherFormsAreRefused) {
  auto files = all_;
  files.first = 2;
  files.count = 2;
  EXPECT_TRUE(has(refusal(files), "x.npy: has 3 images, and the 2 from 2 on are asked for"));
  files = all_;
  files.classes = 2;
  EXPECT_TRUE(has(refusal(files), "y.npy: the label 2 at [0] is none"));
  files = all_;
  files.pixels = "y.npy";
  EXPECT_TRUE(has(refusal(files), "y.npy"));
  files.pixels = "z.npy";
  EXPECT_TRUE(has(refusal(files), "z.npy"));
  write("z.npy", npy_head("|u1", "3, 12") + std::string(36, '1'));
  EXPECT_TRUE(has(refusal(files), "z.npy: is no array of bytes [n, h, w, 3]"));
  write("z.npy", npy_head("|u1", "3, 2, 3, 2") + std::string(36, '1'));
  EXPECT_TRUE(has(refusal(files), "z.npy: is no array of bytes [n, h, w, 3]"));
  write("z.npy", npy_head("|i1", "3, 2, 2, 3") + std::string(36, '1'));
  EXPECT_TRUE(has(refusal(files), "z.npy: is no array of bytes [n, h, w, 3]"));
  write("z.npy", npy_head("|u1", "3, 2, 2, 3") + std::string(35, '1'));
  EXPECT_TRUE(has(refusal(files), "z.npy: has 35 bytes of numbers, but its header describes 36"));
  write("z.npy", npy_head("|u1", "4, 1, 1, 3") + std::string(12, '1'));
  EXPECT_TRUE(has(refusal(files), "y.npy: is no list of as many classes"));
}

}  // namespace npy_test
}  // namespace hyfreedp::datasets
