// STL-10 in its published binary form, at its true size, with pixels that say where they come from.
#include <ATen/ATen.h>
#include <array>
#include <fstream>
#include <set>

#include "datasets/dataset.h"
#include "tests/datasets/scratch.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

class Stl10Files : public Scratch {
 protected:
  static constexpr std::int64_t kTrain = 5000;
  static constexpr std::int64_t kTest = 8000;

  // Image i of all has the label i mod 10, which is written from 1, and its number in the first two
  // red bytes of its first row. The rest are holes of the file, which are zeros.
  void write(const std::string& folder, std::int64_t train = kTrain, std::int64_t test = kTest) const {
    fs::create_directories(path(folder));
    write_pair(path(folder) + "/train_", 0, train);
    write_pair(path(folder) + "/test_", train, test);
  }
  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};
  static const Facts& facts() { return *find_dataset("stl10").value(); }
  static Result<json::object> completed(const json::object& given) {
    return complete_options(facts(), resolve_options(facts().options, given, "stl10").value());
  }
  Result<Dataset> loaded(const json::object& given) const {
    const auto options = completed(given);
    return options ? load_dataset("stl10", *options) : Result<Dataset>(options.error());
  }
  static std::int64_t number_of(const SplitData& split, std::int64_t row) {
    return split.features[row][0].item<std::uint8_t>() * 256 + split.features[row][1].item<std::uint8_t>();
  }

 private:
  static void write_pair(const std::string& start, std::int64_t first, std::int64_t count) {
    constexpr std::int64_t bytes = 3 * 96 * 96;
    std::ofstream pixels(start + "X.bin", std::ios::binary);
    std::ofstream labels(start + "y.bin", std::ios::binary);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto number = first + i;
      pixels.seekp(i * bytes).put(static_cast<char>(number / 256));
      pixels.seekp(i * bytes + 96).put(static_cast<char>(number % 256));  // row 0, column 1
      pixels.seekp((i + 1) * bytes - 1).put(9);                           // the last blue byte
      labels.put(static_cast<char>(number % 10 + 1));
    }
  }
};

TEST_F(Stl10Files, SplitsAreDisjointAndLabelled) {
  write("own/stl10_binary");
  // As it lies beside them: too large to be read at once, and not read.
  std::ofstream(path("own/stl10_binary/unlabeled_X.bin")) << "u";
  fs::resize_file(path("own/stl10_binary/unlabeled_X.bin"), (std::uint64_t{1} << 28) + 1);
  const auto data = loaded({{"path", path("own")}, {"train", 900}, {"validation", 100}, {"test", 200}});
  ASSERT_TRUE(data.has_value()) << data.error().message;
  std::set<std::int64_t> seen;
  for (const auto* split : {&data->private_train, &data->private_validation, &data->test}) {
    for (std::int64_t row = 0; row < split->labels.size(0); ++row) {
      const auto number = number_of(*split, row);
      EXPECT_TRUE(seen.insert(number).second) << number;
      EXPECT_EQ(number >= kTrain, split == &data->test);
      EXPECT_EQ(split->labels[row].item<std::int64_t>(), number % 10);
    }
  }
  EXPECT_EQ(seen.size(), 1200u);
  EXPECT_EQ(data->private_train.features.size(1), 3 * 96 * 96);
  EXPECT_EQ(data->private_train.features[5][3 * 96 * 96 - 1].item<int>(), 9);
}

TEST_F(Stl10Files, MayHaveTheNumbersOfCifar10) {
  const std::vector<std::string> own = {"airplane", "bird",  "car",    "cat",  "deer",
                                        "dog",      "horse", "monkey", "ship", "truck"};
  const std::vector<std::string> cifar10 = {"airplane", "car",  "bird",  "cat",  "deer",
                                            "dog",      "frog", "horse", "ship", "truck"};
  write("own");
  const json::object given{{"path", path("own")}, {"labels", "cifar10"}};
  const auto n = sizes(facts(), completed(given).value());
  EXPECT_EQ(n.private_train, 4050);
  EXPECT_EQ(n.private_validation, 450);
  EXPECT_EQ(n.test, 7200);
  EXPECT_EQ(n.classes, 10);
  auto alone = test_alone(facts(), resolve_options(facts().options, given, "stl10").value()).value();
  alone["side"] = 32;
  const auto data = load_dataset("stl10", complete_options(facts(), alone).value());
  ASSERT_TRUE(data.has_value()) << data.error().message;
  EXPECT_EQ(data->private_train.features.size(0), 0);
  EXPECT_EQ(data->private_validation.features.size(0), 0);
  ASSERT_EQ(data->test.labels.size(0), 7200);
  // Image i has its own class i mod 10, and 7 is the monkey.
  std::int64_t row = 0;
  for (std::int64_t image = 0; image < kTest; ++image) {
    const auto name = own[static_cast<std::size_t>(image % 10)];
    if (name == "monkey") continue;
    const auto label = data->test.labels[row++].item<std::int64_t>();
    ASSERT_EQ(cifar10.at(static_cast<std::size_t>(label)), name) << image;
  }
  EXPECT_EQ(completed({{"labels", "cifar10"}, {"test", 7201}}).error().message.find("'test' is 7201"), 7U);
  EXPECT_FALSE(completed({}).value().contains("labels")) << "in no earlier trial's config";
}

// Unlike the sets of 32 x 32 images, whose side is not written into a trial.
TEST_F(Stl10Files, KeepTheirSideUnlessTheSpecSaysOtherwise) {
  const auto plain = completed({}).value();
  EXPECT_EQ(plain.at("side").to_number<int>(), 96);
  const auto n = sizes(facts(), plain);
  EXPECT_EQ(n.image, (std::array<std::int64_t, 3>{3, 96, 96}));
  EXPECT_EQ(n.private_train, 4500);
  EXPECT_EQ(n.private_validation, 500);
  EXPECT_EQ(n.test, kTest);
  EXPECT_EQ(sizes(facts(), completed({{"side", 32}}).value()).image,
            (std::array<std::int64_t, 3>{3, 32, 32}));
  const auto& cifar = *find_dataset("cifar10").value();
  EXPECT_FALSE(resolve_options(cifar.options, {}, "cifar10").value().contains("side"));
}

TEST_F(Stl10Files, FewerAreCounted) {
  write("few", 20, 10);
  const json::object given{{"path", path("few")}};
  EXPECT_EQ(sizes(facts(), completed(given).value()).private_train, 18);
  EXPECT_EQ(loaded(given).value().test.labels.size(0), 10);
  // Without the two monkeys of 20, and the one of 10.
  auto as_cifar10 = given;
  as_cifar10["labels"] = "cifar10";
  const auto n = sizes(facts(), completed(as_cifar10).value());
  EXPECT_EQ(n.private_train + n.private_validation, 18);
  EXPECT_EQ(n.test, 9);
  EXPECT_EQ(loaded(as_cifar10).value().test.labels.size(0), 9);
}

TEST_F(Stl10Files, OfOtherContentAreRefused) {
  fs::create_directories(path("data/stl10"));
  std::ofstream(path("data/stl10/stl10_binary.tar.gz")) << "other";
  data_.set(path("data"));
  const auto other = loaded({});
  ASSERT_TRUE(other.has_error());
  EXPECT_NE(other.error().message.find("SHA-256"), std::string::npos) << other.error().message;
}

}  // namespace
}  // namespace hyfreedp::datasets
