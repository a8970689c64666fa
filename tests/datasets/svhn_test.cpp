// SVHN in its published form, at its true size, with pixels that say where they come from.
#include <ATen/ATen.h>
#include <fstream>
#include <set>

#include "datasets/dataset.h"
#include "tests/datasets/scratch.h"
#include "tests/formats/mat_file.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

class SvhnFiles : public Scratch {
 protected:
  static constexpr std::int64_t kTrain = 73'257;
  static constexpr std::int64_t kTest = 26'032;

  // The two files. Image i of all has the label i mod 10, where 0 is written as 10, and its number
  // in the first two red bytes of its first row.
  void write(const std::string& folder, std::int64_t train = kTrain, std::int64_t test = kTest) const {
    write_mat(folder + "/train_32x32.mat", 0, train);
    write_mat(folder + "/test_32x32.mat", train, test);
  }
  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};
  static const Facts& facts() { return *find_dataset("svhn").value(); }
  static Result<json::object> completed(const json::object& given) {
    return complete_options(facts(), resolve_options(facts().options, given, "svhn").value());
  }
  Result<Dataset> loaded(const json::object& given) const {
    const auto options = completed(given);
    return options ? load_dataset("svhn", *options) : Result<Dataset>(options.error());
  }
  testing::AssertionResult refused(const json::object& given, const std::string& part) const {
    const auto data = loaded(given);
    if (!data.has_error()) return testing::AssertionFailure() << "it was loaded";
    if (data.error().message.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << part << "' in: " << data.error().message;
  }

 private:
  void write_mat(const std::string& name, std::int64_t first, std::int64_t count) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    const auto n = static_cast<std::uint32_t>(count);
    const auto image = [first](std::uint32_t i) {
      const auto number = first + i;
      std::string values(3072, '\7');
      // The row goes fastest: these are the places of row 0, columns 0 to 2.
      values[0] = static_cast<char>(number >> 16);
      values[32] = static_cast<char>(number >> 8 & 255);
      values[64] = static_cast<char>(number & 255);
      values[1024] = 100;  // the first green byte
      return values;
    };
    const auto label = [first](std::uint32_t i) {
      const auto digit = (first + i) % 10;
      return std::string(1, static_cast<char>(digit == 0 ? 10 : digit));
    };
    std::ofstream(path(name), std::ios::binary)
        << mat_head() << packed_array('X', {32, 32, 3, n}, n, image) << packed_array('y', {n, 1}, n, label);
  }
};

TEST_F(SvhnFiles, SplitsAreDisjointAndLabelledByTheirDigits) {
  write("mat");
  const auto data = loaded({{"path", path("mat")}, {"train", 3000}, {"validation", 400}, {"test", 500}});
  ASSERT_TRUE(data.has_value()) << data.error().message;
  std::set<std::int64_t> seen;
  std::set<std::int64_t> labels;
  for (const auto* split : {&data->private_train, &data->private_validation, &data->test}) {
    for (std::int64_t row = 0; row < split->labels.size(0); ++row) {
      const auto* bytes = split->features[row].const_data_ptr<std::uint8_t>();
      const std::int64_t number = bytes[0] << 16 | bytes[1] << 8 | bytes[2];
      EXPECT_TRUE(seen.insert(number).second) << number;
      EXPECT_EQ(number >= kTrain, split == &data->test);
      EXPECT_EQ(split->labels[row].item<std::int64_t>(), number % 10);
      EXPECT_EQ(bytes[1024], 100);
      EXPECT_EQ(bytes[2048], 7);
      labels.insert(number % 10);
    }
  }
  EXPECT_EQ(seen.size(), 3900u);
  EXPECT_EQ(labels.size(), 10u);
}

TEST_F(SvhnFiles, HaveTheirPublishedSizes) {
  const auto n = sizes(facts(), completed({}).value());
  EXPECT_EQ(n.private_train + n.private_validation, kTrain);
  EXPECT_EQ(n.private_validation, kTrain / 10);
  EXPECT_EQ(n.test, kTest);
  EXPECT_EQ(n.classes, 10);
  EXPECT_EQ(n.image, (std::array<std::int64_t, 3>{3, 32, 32}));
}

TEST_F(SvhnFiles, FewerAreCountedAndSuchAsAreNotThereRefused) {
  write("few", 30, 10);
  const auto n = sizes(facts(), completed({{"path", path("few")}}).value());
  EXPECT_EQ(n.private_train, 27);
  EXPECT_EQ(n.private_validation, 3);
  EXPECT_EQ(n.test, 10);
  const auto data = loaded({{"path", path("few")}});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->private_train.labels.size(0), 27);
  fs::remove(path("few/test_32x32.mat"));
  EXPECT_TRUE(refused({{"path", path("few")}}, "few/test_32x32.mat: there is no such file"));
  EXPECT_TRUE(refused({{"path", path("few/train_32x32.mat")}}, "Expected is a folder with train_32x32.mat"));
  std::ofstream(path("few/test_32x32.mat")) << "MATLAB 5.0";
  EXPECT_TRUE(refused({{"path", path("few")}}, "few/test_32x32.mat: "));
}

TEST_F(SvhnFiles, OfANameAreNotTrustedForIt) {
  data_.set(path("data"));
  write("data/svhn", 2, 1);
  EXPECT_TRUE(refused({}, "data/svhn/train_32x32.mat: SHA-256"));
  fs::remove(path("data/svhn/test_32x32.mat"));
  const auto missing = check_present(facts(), completed({}).value());
  ASSERT_TRUE(missing.has_error());
  for (const std::string part : {"hyfreedp data fetch svhn", "data/svhn (no test_32x32.mat)"}) {
    EXPECT_NE(missing.error().message.find(part), std::string::npos) << missing.error().message;
  }
}

}  // namespace
}  // namespace hyfreedp::datasets
