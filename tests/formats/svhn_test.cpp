// SVHN's files and the MAT files beneath them, made byte by byte as the format's description says.
#include "datasets/formats/svhn.h"

#include <cstring>
#include <limits>

#include "datasets/formats/mat5.h"
#include "tests/datasets/scratch.h"
#include "tests/formats/expect_error.h"
#include "tests/formats/mat_file.h"
#include "tests/formats/written.h"
#include "tests/images/peak_memory.h"

namespace hyfreedp::datasets {
namespace svhn_test {

using Sizes = std::vector<std::int32_t>;

template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string tag(std::uint32_t type, std::size_t bytes) {
  return raw<std::uint32_t>({type, static_cast<std::uint32_t>(bytes)});
}

std::string element(std::uint32_t type, const std::string& bytes) {
  return tag(type, bytes.size()) + bytes + std::string((8 - bytes.size() % 8) % 8, '\0');
}

// One of at most 4 bytes in the short form.
std::string small_element(std::uint32_t type, const std::string& bytes) {
  return raw<std::uint32_t>({type | static_cast<std::uint32_t>(bytes.size()) << 16}) + bytes +
         std::string(4 - bytes.size(), '\0');
}

// Classes: 6 double, 9 uint8, 1 cell, 4 characters. Types: 1 int8, 2 uint8, 3 int16, 9 double.
std::string matrix_of(std::uint32_t flags, const Sizes& sizes, const std::string& name,
                      const std::string& values) {
  return element(14, element(6, raw<std::uint32_t>({flags, 0})) + element(5, raw(sizes)) + name + values);
}

std::string uint8_matrix(const std::string& name, const Sizes& sizes, const std::string& values) {
  return matrix_of(9, sizes, small_element(1, name), element(2, values));
}

std::string packed(const std::string& matrix) {
  uLongf size = compressBound(matrix.size());
  std::string bytes(size, '\0');
  compress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(matrix.data()),
           matrix.size());
  bytes.resize(size);
  return tag(15, size) + bytes;
}

// Image i at row, column and channel.
std::uint8_t pixel(std::size_t i, std::size_t channel, std::size_t row, std::size_t column) {
  return static_cast<std::uint8_t>(i * 11 + channel * 7 + row * 3 + column * 5);
}

std::string pixels(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t channel = 0; channel < 3; ++channel)
      for (std::size_t column = 0; column < 32; ++column)
        for (std::size_t row = 0; row < 32; ++row) bytes += static_cast<char>(pixel(i, channel, row, column));
  return bytes;
}

std::string x_matrix(std::int32_t count) {
  return uint8_matrix("X", {32, 32, 3, count}, pixels(static_cast<std::size_t>(count)));
}

class Svhn : public Scratch {
 protected:
  Result<ImageSet> read(const std::string& bytes, std::int64_t max_images = 100) const {
    written(path("s.mat"), bytes);
    return read_svhn(path("s.mat"), max_images);
  }
  testing::AssertionResult fails(const std::string& bytes, const std::string& what) const {
    return fails_with(read(bytes), path("s.mat") + ": ", what);
  }
  Result<std::vector<MatArray>> read_array(const std::string& bytes, std::uint64_t max_values = 1000) const {
    written(path("a.mat"), bytes);
    return read_mat5(path("a.mat"), {{.name = "a", .max_values = max_values}});
  }
};

TEST_F(Svhn, ReadsPackedAndPlainArraysInAnyOrder) {
  const auto y = uint8_matrix("y", {3, 1}, "\x0a\x01\x09");
  const auto other = matrix_of(1, {1, 1}, element(1, "a longer name"), element(14, ""));
  for (const auto& file : {mat_head() + packed(x_matrix(3)) + packed(y), mat_head() + y + other + x_matrix(3),
                           mat_head() + packed(other) + packed(y) + x_matrix(3)}) {
    const auto images = read(file);
    ASSERT_TRUE(images.has_value()) << images.error().message;
    EXPECT_EQ(images->count, 3);
    EXPECT_EQ(images->channels, 3);
    EXPECT_EQ(images->height, 32);
    EXPECT_EQ(images->width, 32);
    EXPECT_EQ(images->labels, (std::vector<std::int64_t>{0, 1, 9}));
    ASSERT_EQ(images->pixels.size(), 3U * 3072);
    std::size_t at = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t channel = 0; channel < 3; ++channel)
        for (std::size_t row = 0; row < 32; ++row)
          for (std::size_t column = 0; column < 32; ++column)
            ASSERT_EQ(images->pixels[at++], pixel(i, channel, row, column));
  }
}

TEST_F(Svhn, OneImageHasThreeSizes) {
  const auto images =
      read(mat_head() + uint8_matrix("X", {32, 32, 3}, pixels(1)) + uint8_matrix("y", {1, 1}, "\x02"));
  ASSERT_TRUE(images.has_value()) << images.error().message;
  EXPECT_EQ(images->count, 1);
  EXPECT_EQ(images->labels, (std::vector<std::int64_t>{2}));
}

TEST_F(Svhn, SizesAndClassesAreChecked) {
  const auto y = [](const Sizes& sizes, const std::string& values) {
    return uint8_matrix("y", sizes, values);
  };
  const auto x = x_matrix(2);
  EXPECT_TRUE(fails(mat_head() + x + y({3, 1}, "\x01\x02\x03"), "y is 3 x 1; expected is 2 x 1"));
  EXPECT_TRUE(fails(mat_head() + x + y({1, 2}, "\x01\x02"), "y is 1 x 2; expected is 2 x 1"));
  EXPECT_TRUE(fails(mat_head() + x + y({2, 1}, std::string("\x01\0", 2)),
                    "record 1 has the class 0; expected is 1 to 10"));
  EXPECT_TRUE(fails(mat_head() + x + y({2, 1}, "\x0b\x01"), "record 0 has the class 11"));
  EXPECT_TRUE(fails(mat_head() + x, "has no array 'y'"));
  EXPECT_TRUE(fails(mat_head() + y({2, 1}, "\x01\x02"), "has no array 'X'"));
  EXPECT_TRUE(fails(mat_head(), "has no array 'X'"));
  EXPECT_TRUE(fails(mat_head() + x + packed(x), "has the array 'X' twice"));
  EXPECT_TRUE(fails(mat_head() + uint8_matrix("X", {32, 3, 32, 1}, pixels(1)) + y({1, 1}, "\x01"),
                    "X is 32 x 3 x 32 x 1; expected"));
  EXPECT_TRUE(
      fails(mat_head() + uint8_matrix("X", {2, 2}, "abcd") + y({1, 1}, "\x01"), "X is 2 x 2; expected"));
  EXPECT_TRUE(fails(mat_head() + uint8_matrix("X", {32, 32, 3, 0}, "") + y({0, 1}, ""),
                    "expected is 32 x 32 x 3 x n"));
  EXPECT_TRUE(fails_with(read(mat_head() + x + y({2, 1}, "\x01\x02"), 1), path("s.mat") + ": ",
                         "more than 3072 values"));
}

TEST_F(Svhn, EveryTruncationIsAnError) {
  const auto y = uint8_matrix("y", {1, 1}, "\x01");
  for (const auto& file : {mat_head() + packed(x_matrix(1)) + packed(y), mat_head() + y + x_matrix(1)}) {
    ASSERT_TRUE(read(file).has_value());
    for (std::size_t length = 0; length < file.size(); length += length < 700 ? 1 : 37) {
      EXPECT_TRUE(fails(file.substr(0, length), "")) << length;
    }
    EXPECT_TRUE(fails(file.substr(0, file.size() - 1), "")) << "one byte";
    EXPECT_TRUE(fails(file + std::string(1, '\0'), "ends within the head of an element"));
    EXPECT_TRUE(fails(file + std::string(8, '\0'), "an element of type 0"));
  }
}

TEST_F(Svhn, HugeDeclaredSizesTakeNoMemory) {
  const PeakMemory memory;
  const auto declared = [](const Sizes& sizes, std::size_t bytes) {
    const auto inner = element(6, raw<std::uint32_t>({9, 0})) + element(5, raw(sizes)) +
                       small_element(1, "X") + tag(2, bytes);
    return tag(14, inner.size() + bytes) + inner;
  };
  const std::int32_t many = 300'000;  // 0.9 GB
  const auto at = [&](const std::string& file) {
    written(path("s.mat"), file);
    return read_svhn(path("s.mat"), many);
  };
  const auto bytes = std::size_t{3072} * many;
  EXPECT_TRUE(fails_with(at(mat_head() + declared({32, 32, 3, many}, bytes)), path("s.mat"), "truncated"));
  EXPECT_TRUE(fails_with(at(mat_head() + packed(declared({32, 32, 3, many}, bytes))), path("s.mat"), ""));
  EXPECT_TRUE(
      fails_with(at(mat_head() + declared({32, 32, 3, many + 1}, bytes + 3072)), path("s.mat"), "more than"));
  // The product of these sizes is 2^64, or 0 where it wraps.
  EXPECT_TRUE(
      fails_with(at(mat_head() + declared({65536, 65536, 65536, 65536}, 0)), path("s.mat"), "more than"));
  EXPECT_TRUE(fails_with(at(mat_head() + declared({-1, 32, 3, 1}, 0)), path("s.mat"), "negative size"));
  EXPECT_TRUE(fails_with(at(mat_head() + tag(14, 0xffffffff)), path("s.mat"), "truncated"));
  EXPECT_TRUE(fails_with(at(mat_head() + tag(15, 0xffffffff)), path("s.mat"), ""));
  EXPECT_LE(memory.megabytes(), 64);
}

TEST_F(Svhn, OtherFilesAreToldApart) {
  auto big = mat_head();
  big.replace(124, 4, std::string("\x01\0MI", 4));
  EXPECT_TRUE(fails(big, "big-endian"));
  auto seven = mat_head();
  seven.replace(0, 10, "MATLAB 7.3");
  EXPECT_TRUE(fails(seven, "version 7.3"));
  EXPECT_TRUE(fails("\x89HDF\r\n", "version 7.3"));
  EXPECT_TRUE(fails("hello", "not a MAT file"));
  EXPECT_TRUE(fails("", "not a MAT file"));
  auto version = mat_head();
  version[125] = 2;
  EXPECT_TRUE(fails(version, "version 0x0200"));
  EXPECT_TRUE(read_svhn(path("absent")).has_error());
}

TEST_F(Svhn, ADamagedPackedArrayIsAnError) {
  const auto y = packed(uint8_matrix("y", {1, 1}, "\x01"));
  auto x = packed(x_matrix(1));
  x.back() = static_cast<char>(x.back() ^ 1);  // zlib's checksum
  EXPECT_TRUE(fails(mat_head() + x + y, "cannot be unpacked"));
  EXPECT_TRUE(fails(mat_head() + packed(x_matrix(1) + "more") + y, "bytes after its end"));
  EXPECT_TRUE(fails(mat_head() + packed(tag(2, 0)) + y, "is not an array"));
  EXPECT_TRUE(fails(mat_head() + tag(15, 5) + "hello" + y, "cannot be unpacked"));
}

TEST_F(Svhn, ValuesMayBeStoredInOtherTypes) {
  const auto array = [](std::uint32_t flags, std::uint32_t type, const std::string& values) {
    return mat_head() + matrix_of(flags, {2, 1}, element(1, "a"), element(type, values));
  };
  const std::vector<std::uint8_t> expected = {7, 255};
  for (const auto& file :
       {array(6, 2, "\x07\xff"), array(6, 9, raw<double>({7, 255})), array(7, 7, raw<float>({7, 255})),
        array(10, 3, raw<std::int16_t>({7, 255})), array(11, 4, raw<std::uint16_t>({7, 255})),
        array(12, 5, raw<std::int32_t>({7, 255})), array(13, 6, raw<std::uint32_t>({7, 255})),
        mat_head() + matrix_of(9, {2, 1}, element(1, "a"), small_element(2, "\x07\xff"))}) {
    const auto read = read_array(file);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ((*read)[0].values, expected);
    EXPECT_EQ((*read)[0].sizes, (std::vector<std::int64_t>{2, 1}));
  }
  const auto refused = [&](const std::string& file, const std::string& what) {
    return fails_with(read_array(file), path("a.mat") + ": the array 'a' ", what);
  };
  for (const double value : {-1.0, 0.5, 256.0, 1e300, -1e300, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(refused(array(6, 9, raw<double>({7, value})), "no whole number from 0 to 255")) << value;
  }
  EXPECT_TRUE(refused(array(10, 3, raw<std::int16_t>({7, -1})), "no whole number"));
  EXPECT_TRUE(refused(array(8, 1, "\x07\xff"), "no whole number"));
  EXPECT_TRUE(refused(array(6, 12, raw<std::int64_t>({7, 255})), "unknown type 12"));
  EXPECT_TRUE(refused(array(9, 2, "\x07"), "has 1 bytes of values; 2 are expected from its sizes 2 x 1"));
  EXPECT_TRUE(refused(array(9, 4, "\x07\x07"), "has 2 bytes of values; 4 are expected"));
  EXPECT_TRUE(refused(array(4, 2, "\x07\x07"), "class 4"));
  EXPECT_TRUE(refused(array(5, 2, "\x07\x07"), "class 5"));
  EXPECT_TRUE(refused(array(14, 2, "\x07\x07"), "class 14"));
  EXPECT_TRUE(refused(array(0x0809, 2, "\x07\x07"), "flags 0x0800"));
  EXPECT_TRUE(refused(
      mat_head() + matrix_of(9, {2, 1}, element(1, "a"), element(2, "\x07\x07") + element(2, "\x07\x07")),
      "bytes after its values"));
}

TEST_F(Svhn, BrokenHeadsOfArraysAreErrors) {
  const auto flags = element(6, raw<std::uint32_t>({9, 0}));
  const auto sizes = element(5, raw<std::int32_t>({1, 1}));
  const auto name = element(1, "a");
  const auto broken = [&](const std::string& inner, const std::string& what) {
    return fails_with(read_array(mat_head() + element(14, inner)), path("a.mat") + ": ", what);
  };
  EXPECT_TRUE(broken("", "the flags of an array"));
  EXPECT_TRUE(broken(sizes + flags, "without its flags"));
  EXPECT_TRUE(broken(element(6, "1234"), "without its flags"));
  EXPECT_TRUE(broken(flags + name, "no sizes"));
  EXPECT_TRUE(broken(flags + element(5, raw<std::int32_t>({1})), "no sizes"));
  EXPECT_TRUE(broken(flags + element(5, "123456789"), "no sizes"));
  EXPECT_TRUE(broken(flags + element(5, std::string(36, '\1')), "at most 32 are expected"));
  EXPECT_TRUE(broken(flags + sizes + element(1, std::string(65, 'x')), "at most 64 are expected"));
  EXPECT_TRUE(broken(flags + sizes + element(2, "a"), "has no name"));
  EXPECT_TRUE(broken(flags + sizes + raw<std::uint32_t>({1 | 5U << 16, 0}), "5 bytes in the place of 4"));
  EXPECT_TRUE(broken(flags + sizes + name + tag(2, 100), "100 bytes, where at most 8"));
  EXPECT_TRUE(broken(flags + element(5, raw<std::int32_t>({100, 1})) + name + tag(2, 100), "but 0 are left"));
}

}  // namespace svhn_test
}  // namespace hyfreedp::datasets
