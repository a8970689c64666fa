// CIFAR in its published binary form, at its true size, with pixels that say where they come from.
#include <ATen/ATen.h>
#include <fstream>
#include <set>

#include "datasets/dataset.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBatch = 10000;

class Cifar : public Scratch {
 protected:
  // Image i of all has the label i mod 10, and its number in the first two red bytes.
  void write(const std::string& folder, std::int64_t records = kBatch) const {
    fs::create_directories(path(folder));
    std::int64_t number = 0;
    for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                             "data_batch_5.bin", "test_batch.bin"}) {
      std::string batch(static_cast<std::size_t>(records) * 3073, '\7');
      for (std::int64_t i = 0; i < records; ++i, ++number) {
        auto* record = batch.data() + i * 3073;
        record[0] = static_cast<char>(number % 10);
        record[1] = static_cast<char>(number / 256);
        record[2] = static_cast<char>(number % 256);
        record[1 + 1024] = 100;  // the first green byte
      }
      std::ofstream(path(folder) + "/" + name, std::ios::binary) << batch;
    }
  }
  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};
  static const Facts& facts() { return *find_dataset("cifar10").value(); }
  Result<json::object> completed(json::object given) const {
    return complete_options(facts(), resolve_options(facts().options, given, "cifar10").value());
  }
  static std::int64_t number_of(const SplitData& split, std::int64_t row) {
    return split.features[row][0].item<std::uint8_t>() * 256 + split.features[row][1].item<std::uint8_t>();
  }
};

TEST_F(Cifar, SplitsAreDisjointAndLabelled) {
  write("batches");
  const auto options =
      completed({{"path", path("batches")}, {"train", 3000}, {"validation", 400}, {"test", 500}});
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_TRUE(check_present(facts(), *options).has_value());
  const auto data = load_dataset("cifar10", *options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  expect_foretold_cache(facts(), *options);
  std::set<std::int64_t> seen;
  for (const auto* split : {&data->private_train, &data->private_validation, &data->test}) {
    const bool is_test = split == &data->test;
    for (std::int64_t row = 0; row < split->labels.size(0); ++row) {
      const auto number = number_of(*split, row);
      EXPECT_TRUE(seen.insert(number).second) << number;
      EXPECT_EQ(number >= 5 * kBatch, is_test);
      EXPECT_EQ(split->labels[row].item<std::int64_t>(), number % 10);
    }
  }
  EXPECT_EQ(seen.size(), 3900u);
  EXPECT_EQ(data->private_train.features[5][1024].item<int>(), 100);
  EXPECT_EQ(data->private_train.features[5][2048].item<int>(), 7);
}

// 2,000 and 500 images in the published files.
TEST_F(Cifar, AnOwnCopyMayHaveFewerImages) {
  write("few", 400);
  fs::resize_file(path("few/test_batch.bin"), std::uintmax_t{350} * 3073);
  const auto sizes_with = [this](json::object given) {
    given["path"] = path("few");
    const auto options = completed(given);
    EXPECT_TRUE(options) << options.error().message;
    return options ? facts().sizes(*options) : Sizes();
  };
  const auto expect_sizes = [](const Sizes& n, std::int64_t train, std::int64_t validation,
                               std::int64_t test) {
    EXPECT_EQ(n.private_train, train);
    EXPECT_EQ(n.private_validation, validation);
    EXPECT_EQ(n.test, test);
  };
  expect_sizes(sizes_with({}), 1800, 200, 350);
  expect_sizes(sizes_with({{"train", 1800}, {"test", 300}}), 1800, 200, 300);
  expect_sizes(sizes_with({{"train", 1950}}), 1950, 50, 350);
  expect_sizes(sizes_with({{"train", 2000}, {"test", 350}}), 2000, 0, 350);
  expect_sizes(sizes_with({{"train", 500}, {"validation", 1500}}), 500, 1500, 350);
  EXPECT_NE(
      completed({{"path", path("few")}, {"train", 2001}}).error().message.find("there are 2000 such records"),
      std::string::npos);
  EXPECT_NE(completed({{"path", path("few")}, {"test", 351}}).error().message.find("'test' is 351"),
            std::string::npos);

  Notes notes;
  const json::object given = {{"path", path("few")}, {"train", 1000}, {"test", 300}};
  const auto options =
      complete_options(facts(), resolve_options(facts().options, given, "cifar10").value(), &notes);
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("has 2000 training and 350 test images"), std::string::npos) << notes[0];
  const auto data = load_dataset("cifar10", *options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  expect_foretold_cache(facts(), *options);
  std::set<std::int64_t> seen;
  for (const auto* split : {&data->private_train, &data->private_validation, &data->test}) {
    for (std::int64_t row = 0; row < split->labels.size(0); ++row) {
      const auto number = number_of(*split, row);
      EXPECT_TRUE(seen.insert(number).second) << number;
      EXPECT_EQ(number >= 2000, split == &data->test);
      EXPECT_EQ(split->labels[row].item<std::int64_t>(), number % 10);
    }
  }
  EXPECT_EQ(seen.size(), 1500U);
}

TEST_F(Cifar, AWholeOwnCopyKeepsTheOptionsOfEarlierRuns) {
  write("batches");
  Notes notes;
  const json::object given = {{"path", path("batches")}};
  const auto options =
      complete_options(facts(), resolve_options(facts().options, given, "cifar10").value(), &notes);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(notes.empty());
  for (const char* count : {"train", "validation", "test"}) EXPECT_FALSE(options->contains(count)) << count;
}

TEST_F(Cifar, MoreImagesThanArePublishedAreRefused) {
  write("many", kBatch + 1);
  const auto options = completed({{"path", path("many")}});
  ASSERT_TRUE(options.has_error());
  EXPECT_NE(options.error().message.find("50005 training and 10001 test images; 50000 and 10000"),
            std::string::npos)
      << options.error().message;
}

TEST_F(Cifar, FilesOfANameAreNotTrustedForIt) {
  fs::create_directories(path("data/cifar10"));
  std::ofstream(path("data/cifar10/cifar-10-binary.tar.gz")) << "other";
  data_.set(path("data"));
  const auto loaded = load_dataset("cifar10", completed({}).value());
  ASSERT_TRUE(loaded.has_error());
  EXPECT_NE(loaded.error().message.find("SHA-256"), std::string::npos) << loaded.error().message;
}

TEST_F(Cifar, AbsentFilesAreNamedWithTheCommandThatBringsThem) {
  const auto missing = check_present(facts(), completed({}).value());
  ASSERT_TRUE(missing.has_error());
  EXPECT_NE(missing.error().message.find("hyfreedp data fetch cifar10"), std::string::npos);
  EXPECT_NE(completed({{"sha256", "0"}}).error().message.find("no effect without 'path'"), std::string::npos);
}

}  // namespace
}  // namespace hyfreedp::datasets
