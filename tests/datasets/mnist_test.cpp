// MNIST on files of the published format and size, which the test makes.
#include "datasets/mnist.h"

#include <ATen/ATen.h>

#include "datasets/dataset.h"
#include "datasets/image/hog.h"
#include "harness/base/files.h"
#include "idx_bytes.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

// Pixel p of image i.
std::uint8_t pixel(std::uint32_t i, std::size_t p) {
  return static_cast<std::uint8_t>((i * 2654435761U >> 8U) + p * (i % 97 + 1));
}

class MnistFiles : public Scratch {
 protected:
  void write_pair(std::size_t place, std::uint32_t first, std::uint32_t count) {
    auto images = idx_head({count, 28, 28}), labels = idx_head({count});
    for (std::uint32_t i = first; i < first + count; ++i) {
      for (std::size_t p = 0; p < kImagePixels; ++p) images.push_back(pixel(i, p));
      labels.push_back(static_cast<std::uint8_t>(i % 10));
    }
    for (const auto& [bytes, at] : {std::pair{&images, place}, std::pair{&labels, place + 1}}) {
      write_gz(std::string("data/mnist/") + kIdxFiles[at], *bytes);
      facts_.files[at].sha256 = sha256_of_file(path(std::string("data/mnist/") + kIdxFiles[at])).value();
    }
  }
  Facts facts_ = Mnist::facts();
};

TEST_F(MnistFiles, AreReadAsPublished) {
  data_.set(path("data"));
  write_pair(0, 0, 60000);
  write_pair(2, 60000, 10000);
  const auto options = resolve_options(
      facts_.options, {{"features", "pixels"}, {"train", 40}, {"validation", 30}, {"test", 20}}, "mnist");
  const auto data = Mnist::load(facts_, options.value(), "cpu");
  ASSERT_TRUE(data) << data.error().message;
  for (const auto& [split, published, begin] : {std::tuple{Split::private_train, 50000, 0U},
                                                {Split::private_validation, 10000, 50000U},
                                                {Split::test, 10000, 60000U}}) {
    const auto& part = data->split(split);
    const auto rows = keyed_subset("mnist", split, published, part.labels.size(0));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto image = begin + static_cast<std::uint32_t>(rows[i]);
      std::array<std::uint8_t, kImagePixels> bytes;
      for (std::size_t p = 0; p < bytes.size(); ++p) bytes[p] = pixel(image, p);
      std::array<float, kImagePixels> expected;
      pixel_features(bytes, expected);
      const auto row = static_cast<std::int64_t>(i);
      EXPECT_TRUE(at::equal(part.features[row], at::tensor(at::ArrayRef<float>(expected)))) << image;
      EXPECT_EQ(part.labels[row].item<std::int64_t>(), image % 10);
    }
  }
  // The published files have other checksums than these.
  const auto refused = Mnist::load(Mnist::facts(), options.value(), "cpu");
  ASSERT_TRUE(refused.has_error());
  EXPECT_NE(refused.error().message.find("SHA-256"), std::string::npos) << refused.error().message;
}

TEST(Mnist, SaysWhereItComesFrom) {
  const auto facts = Mnist::facts();
  ASSERT_EQ(facts.supply.downloads.size(), 4U);
  EXPECT_EQ(facts.supply.bytes, 11'594'722U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(facts.supply.downloads[i].sha256, facts.files[i].sha256);
    EXPECT_EQ(facts.supply.downloads[i].urls.size(), 2U);
  }
}

}  // namespace
}  // namespace hyfreedp::datasets
