// CIFAR-10.1 and the corrupted CIFARs in their published form, at their true size, with pixels that
// say where they come from.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fstream>
#include <set>

#include "datasets/dataset.h"
#include "harness/base/files.h"
#include "tests/datasets/scratch.h"
#include "tests/formats/npy_file.h"
#include "tests/formats/tar.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPixels = 3072;

std::int64_t label_of(std::int64_t image) { return image % 1000 / 7 % 10; }

class CifarShifts : public Scratch {
 protected:
  // Image i has its number in the first, second and last red byte, by 65536, 256 and 1, and 5 in
  // the first blue one. The rest are holes of the file, which are zeros.
  void write_images(const std::string& file, std::int64_t count) const {
    std::ofstream out(file, std::ios::binary);
    const auto head = npy_head("|u1", fmt::format("{}, 32, 32, 3", count));
    out << head;
    const auto begin = static_cast<std::int64_t>(head.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto image = begin + i * kPixels;
      out.seekp(image).put(static_cast<char>(i >> 16));
      out.seekp(image + 2).put(5);
      out.seekp(image + 3).put(static_cast<char>(i >> 8));
      out.seekp(image + kPixels - 3).put(static_cast<char>(i));
    }
    out.close();
    fs::resize_file(file, static_cast<std::uint64_t>(begin + count * kPixels));
  }
  // The corrupted sets' labels repeat those of the 10,000 images; so do these.
  static void write_labels(const std::string& file, std::int64_t count, bool wide) {
    std::string bytes = npy_head(wide ? "<i4" : "|u1", fmt::format("{},", count));
    for (std::int64_t i = 0; i < count; ++i) {
      bytes += static_cast<char>(label_of(i % 10000));
      if (wide) bytes.append(3, '\0');
    }
    ASSERT_TRUE(write_file_atomically(file, bytes));
  }
  void write_corrupted(const std::string& folder) const {
    fs::create_directories(path(folder + "/CIFAR-C"));
    write_images(path(folder + "/CIFAR-C/gaussian_blur.npy"), 50000);
    write_labels(path(folder + "/CIFAR-C/labels.npy"), 50000, false);
    std::ofstream(path(folder + "/CIFAR-C/fog.npy")) << "not read";
  }
  static Result<json::object> completed(const std::string& name, const json::object& given) {
    const auto& facts = *find_dataset(name).value();
    return complete_options(facts, resolve_options(facts.options, given, name).value());
  }
  static Result<Dataset> loaded(const std::string& name, const json::object& given) {
    const auto options = completed(name, given);
    return options ? load_dataset(name, *options) : Result<Dataset>(options.error());
  }
  static std::int64_t number_of(const SplitData& split, std::int64_t row) {
    const auto at = [&](std::int64_t place) { return split.features[row][place].item<std::uint8_t>(); };
    EXPECT_EQ(at(2048), 5) << "the first blue byte";
    return at(0) * 65536 + at(1) * 256 + at(1023);
  }
  static void expect_test_alone(const Dataset& data, std::int64_t count) {
    EXPECT_EQ(data.private_train.features.size(0), 0);
    EXPECT_EQ(data.private_validation.features.size(0), 0);
    EXPECT_EQ(data.test.features.size(0), count);
    EXPECT_EQ(data.test.features.size(1), kPixels);
  }
  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};
};

TEST_F(CifarShifts, TheNewTestSetIsReadInItsOrder) {
  fs::create_directories(path("new"));
  write_images(path("new/cifar10.1_v6_data.npy"), 2000);
  write_labels(path("new/cifar10.1_v6_labels.npy"), 2000, true);
  const json::object given{{"path", path("new")}};
  const auto data = loaded("cifar10-1", given);
  ASSERT_TRUE(data) << data.error().message;
  expect_test_alone(*data, 2000);
  expect_foretold_cache(*find_dataset("cifar10-1").value(), completed("cifar10-1", given).value());
  for (std::int64_t row = 0; row < 2000; row += 37) {
    EXPECT_EQ(number_of(data->test, row), row);
    EXPECT_EQ(data->test.labels[row].item<std::int64_t>(), label_of(row));
  }
}

TEST_F(CifarShifts, ASeverityIsTheImagesThatBelongToIt) {
  write_corrupted("c");
  for (const auto& [name, severity] : {std::pair{"cifar10-c", 1}, {"cifar10-c", 2}, {"cifar100-c", 5}}) {
    const auto data = loaded(name, {{"path", path("c")}, {"severity", severity}});
    ASSERT_TRUE(data) << data.error().message;
    expect_test_alone(*data, 10000);
    for (const std::int64_t row : {0, 1, 4321, 9999}) {
      EXPECT_EQ(number_of(data->test, row), (severity - 1) * 10000 + row) << severity;
      EXPECT_EQ(data->test.labels[row].item<std::int64_t>(), label_of(row));
    }
  }
}

// All have as many images, so that the accuracy on all is the mean.
TEST_F(CifarShifts, WithoutASeverityAllAreRead) {
  write_corrupted("c");
  const auto& facts = *find_dataset("cifar10-c").value();
  EXPECT_EQ(sizes(facts, completed("cifar10-c", {}).value()).test, 50000);
  const auto data = loaded("cifar10-c", {{"path", path("c")}, {"test", 400}});
  ASSERT_TRUE(data) << data.error().message;
  std::set<std::int64_t> severities;
  for (std::int64_t row = 0; row < 400; ++row) severities.insert(number_of(data->test, row) / 10000);
  EXPECT_EQ(severities.size(), 5U);
}

TEST_F(CifarShifts, WhatIsNotPublishedIsRefused) {
  EXPECT_NE(
      completed("cifar10-c", {{"severity", 3}, {"test", 10001}}).error().message.find("there are 10000"),
      std::string::npos);
  fs::create_directories(path("data/cifar100-c"));
  std::ofstream(path("data/cifar100-c/CIFAR-100-C.tar")) << "other";
  data_.set(path("data"));
  const auto other = loaded("cifar100-c", {});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("has not the 2918473216 bytes of the published file"),
            std::string::npos)
      << other.error().message;
  fs::create_directories(path("few"));
  write_images(path("few/cifar10.1_v6_data.npy"), 20);
  write_labels(path("few/cifar10.1_v6_labels.npy"), 20, true);
  const auto few = loaded("cifar10-1", {{"path", path("few")}});
  ASSERT_TRUE(few) << few.error().message;
  expect_test_alone(*few, 20);
  write_images(path("few/cifar10.1_v6_data.npy"), 2001);
  write_labels(path("few/cifar10.1_v6_labels.npy"), 2001, true);
  const auto many = loaded("cifar10-1", {{"path", path("few")}});
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("0 training and 2001 test images; 0 and 2000 are published"),
            std::string::npos)
      << many.error().message;
}

}  // namespace
}  // namespace hyfreedp::datasets
