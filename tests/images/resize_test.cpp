// Resizing beside Pillow's bytes, and the reference case of an image's whole preparation.
#include "datasets/image/resize.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>

#include "datasets/image/decode.h"
#include "harness/base/files.h"
#include "harness/base/json.h"

namespace hyfreedp::datasets {
namespace resize_test {

namespace fs = std::filesystem;

Image image_of(const fs::path& path) {
  return decode_image(read_file(path.string()).value(), path.filename().string()).value();
}

TEST(Resize, BytesAsPillowMakesThem) {
  const auto folder = fs::path(HYFREEDP_TEST_DATA) / "images" / "resize";
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();  // a_bicubic_16x24.ppm
    if (name.find('_') == std::string::npos) continue;
    SCOPED_TRACE(name);
    const auto expected = image_of(entry.path());
    const auto filter =
        name.find("bicubic") != std::string::npos ? Interpolation::bicubic : Interpolation::bilinear;
    const auto got =
        resize(image_of(folder / (name.substr(0, 1) + ".ppm")), expected.height, expected.width, filter);
    ASSERT_TRUE(got.has_value()) << got.error().message;
    EXPECT_EQ(*got, expected);
    ++cases;
  }
  EXPECT_GE(cases, 20) << folder << " lost files";
}

TEST(Resize, SidesOutsideTheLimitsAreErrors) {
  const Image image{.height = 2, .width = 2, .pixels = std::vector<std::uint8_t>(12)};
  const auto refused = [&image](std::int64_t height, std::int64_t width) {
    return resize(image, height, width, Interpolation::bicubic).has_error();
  };
  EXPECT_FALSE(refused(3, 1));
  EXPECT_TRUE(refused(0, 1));
  EXPECT_TRUE(refused(1, -1));
  EXPECT_TRUE(refused(1 << 16, 1 << 16));
  EXPECT_TRUE(refused(std::int64_t{1} << 62, 4));
}

TEST(Resize, ShorterSideAndNarrowStrips) {
  const Image strip{.height = 3, .width = 1000, .pixels = std::vector<std::uint8_t>(9000, 77)};
  const auto small = resize_shorter(strip, 2, Interpolation::bilinear);
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(small->height, 2);
  EXPECT_EQ(small->width, 666);
  const auto upright =
      resize_shorter({.height = 1000, .width = 3, .pixels = strip.pixels}, 2, Interpolation::bilinear);
  ASSERT_TRUE(upright.has_value());
  EXPECT_EQ(upright->height, 666);
  EXPECT_EQ(upright->width, 2);
  // A constant stays one: the weights sum to 1.
  EXPECT_EQ(*std::min_element(upright->pixels.begin(), upright->pixels.end()), 77);
  EXPECT_EQ(*std::max_element(upright->pixels.begin(), upright->pixels.end()), 77);
  EXPECT_TRUE(resize_shorter(strip, 500, Interpolation::bilinear).has_error());  // 166,666 wide
  EXPECT_TRUE(resize_shorter(strip, std::int64_t{1} << 62, Interpolation::bilinear).has_error());
  EXPECT_TRUE(resize_shorter(strip, 0, Interpolation::bilinear).has_error());
  EXPECT_TRUE(resize_shorter(strip, -5, Interpolation::bilinear).has_error());
}

TEST(CentreCrop, TakesTorchvisionsMiddle) {
  Image row{.height = 1, .width = 8, .pixels = std::vector<std::uint8_t>(24)};
  for (std::size_t i = 0; i < 24; ++i) row.pixels[i] = static_cast<std::uint8_t>(i / 3);
  const auto left_after = [&row](std::int64_t width) {
    auto part = row;
    part.width = width;
    part.pixels.resize(bytes_of(1, width));
    return int{centre_crop(part, 1).value().pixels.front()};
  };
  // round(0.5) = 0, round(1) = 1, round(1.5) = 2, round(2.5) = 2, round(3.5) = 4
  EXPECT_EQ(left_after(1), 0);
  EXPECT_EQ(left_after(2), 0);
  EXPECT_EQ(left_after(3), 1);
  EXPECT_EQ(left_after(4), 2);
  EXPECT_EQ(left_after(6), 2);
  EXPECT_EQ(left_after(8), 4);
  EXPECT_TRUE(centre_crop(row, 2).has_error());
  EXPECT_TRUE(centre_crop(row, 0).has_error());
}

// Which rows and which columns go, each by its own side; half a place is rounded to the even one.
TEST(CentreCrop, TakesTheMiddleOfEachSide) {
  const auto corner_of = [](std::int64_t height, std::int64_t width, std::int64_t size) {
    Image image{.height = height, .width = width, .pixels = {}};
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        for (const auto value : {y, x, y + x}) image.pixels.push_back(static_cast<std::uint8_t>(value));
      }
    }
    const auto cut = centre_crop(image, size).value();
    const std::pair corner(int{cut.pixels[0]}, int{cut.pixels[1]});
    for (std::int64_t i = 0; i < size * size; ++i) {  // the rest follows from the corner
      const auto* pixel = cut.pixels.data() + i * 3;
      EXPECT_EQ(int{pixel[0]}, corner.first + i / size);
      EXPECT_EQ(int{pixel[1]}, corner.second + i % size);
      EXPECT_EQ(int{pixel[2]}, int{pixel[0]} + int{pixel[1]});
    }
    return corner;
  };
  EXPECT_EQ(corner_of(3, 3, 3), std::pair(0, 0));
  EXPECT_EQ(corner_of(9, 3, 3), std::pair(3, 0));
  EXPECT_EQ(corner_of(3, 9, 3), std::pair(0, 3));
  // halves: 0.5 -> 0, 1.5 -> 2, 2.5 -> 2
  EXPECT_EQ(corner_of(4, 6, 3), std::pair(0, 2));
  EXPECT_EQ(corner_of(6, 4, 3), std::pair(2, 0));
  EXPECT_EQ(corner_of(8, 6, 3), std::pair(2, 2));
  EXPECT_EQ(corner_of(6, 8, 3), std::pair(2, 2));
}

// The tensors of a safetensors file: 8 bytes length, a JSON header, raw data.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::string bytes;
};
std::map<std::string, Tensor> read_tensors(const fs::path& path) {
  const auto content = read_file(path.string()).value();
  std::uint64_t length = 0;
  std::memcpy(&length, content.data(), sizeof length);
  std::map<std::string, Tensor> tensors;
  const auto header = parse_json(std::string_view(content).substr(8, length), path.string()).value();
  for (const auto& [name, value] : header.as_object()) {
    if (name == "__metadata__") continue;
    Tensor tensor;
    for (const auto& size : value.at("shape").as_array())
      tensor.shape.push_back(size.to_number<std::int64_t>());
    const auto from = value.at("data_offsets").at(0).to_number<std::size_t>();
    const auto to = value.at("data_offsets").at(1).to_number<std::size_t>();
    tensor.bytes = content.substr(8 + length + from, to - from);
    tensors[std::string(name)] = std::move(tensor);
  }
  return tensors;
}

struct Distance {
  double largest = 0;
  double sum = 0;
  std::size_t count = 0;
  void add(double difference) {
    largest = std::max(largest, std::fabs(difference));
    sum += std::fabs(difference);
    ++count;
  }
};

const std::string kTimm = "timm_eval_";

TEST(ReferenceImages, PreparedAsByPillowAndTimm) {
  const char* given = std::getenv("HYFREEDP_REFERENCE_DIR");
  const auto folder = fs::path(given != nullptr ? given : HYFREEDP_TEST_DATA) / "models" / "image_preprocess";
  if (!fs::is_directory(folder)) {
    std::printf("SKIPPED SUITE: no reference folder %s\n", folder.c_str());
    GTEST_SKIP();
  }
  std::map<std::string, Image> images;
  for (const auto& [name, tensor] : read_tensors(folder / "inputs.safetensors")) {
    images[name] = {.height = tensor.shape[0],
                    .width = tensor.shape[1],
                    .pixels = {tensor.bytes.begin(), tensor.bytes.end()}};
  }
  const auto statistics = read_json_file((folder / "case.json").string()).value().at("statistics");
  int exact = 0;
  int prepared = 0;
  Distance difference;  // as a part of the range 0..1
  for (const auto& [name, tensor] : read_tensors(folder / "expected.safetensors")) {
    const auto first = name.find('/');
    const auto last = name.rfind('/');
    const auto kind = name.substr(last + 1);
    if (kind != "pil_uint8" && !kind.starts_with(kTimm)) continue;
    SCOPED_TRACE(name);
    const auto& image = images.at(name.substr(0, first));
    const auto size = std::stol(name.substr(first + 1, last - first - 1));
    if (kind == "pil_uint8") {
      const auto got = resize(image, size, size, Interpolation::bicubic).value();
      EXPECT_EQ(got.pixels, std::vector<std::uint8_t>(tensor.bytes.begin(), tensor.bytes.end()));
      ++exact;
      continue;
    }
    const auto shorter = static_cast<std::int64_t>(std::floor(static_cast<double>(size) / 0.9));
    const auto got =
        centre_crop(resize_shorter(image, shorter, Interpolation::bicubic).value(), size).value();
    std::vector<float> expected(got.pixels.size());
    ASSERT_EQ(tensor.bytes.size(), expected.size() * sizeof(float));
    std::memcpy(expected.data(), tensor.bytes.data(), tensor.bytes.size());
    const auto& constants = statistics.at(kind.substr(kTimm.size()));
    const auto area = static_cast<std::size_t>(size * size);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const auto mean = to_double(constants.at("mean").at(channel), "mean").value();
      const auto deviation = to_double(constants.at("std").at(channel), "std").value();
      for (std::size_t i = 0; i < area; ++i) {
        difference.add(got.pixels[i * 3 + channel] / 255.0 -
                       (double{expected[channel * area + i]} * deviation + mean));
      }
    }
    ++prepared;
  }
  std::printf("ReferenceImages: %d resized, %d prepared\n", exact, prepared);
  EXPECT_GT(exact, 0) << folder << " holds no case";
  EXPECT_GT(prepared, 0) << folder << " holds no case";
  EXPECT_LE(difference.largest, 1e-6);
}

}  // namespace resize_test
}  // namespace hyfreedp::datasets
