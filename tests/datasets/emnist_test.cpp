// EMNIST in its published form and sizes, with pixels that say where they come from.
#include "datasets/emnist.h"

#include <ATen/ATen.h>
#include <fstream>
#include <set>

#include "datasets/dataset.h"
#include "datasets/fetch/fetch.h"
#include "datasets/image/hog.h"
#include "harness/base/files.h"
#include "idx_bytes.h"
#include "scratch.h"
#include "tests/fetch/test_server.h"
#include "tests/formats/tar.h"

namespace hyfreedp::datasets {
namespace {

namespace fs = std::filesystem;

// What a test puts into the files of one selection.
struct Written {
  std::string split;
  std::uint32_t train = 0;
  std::uint32_t test = 0;
  std::uint32_t classes = 0;
  std::uint32_t first_label = 0;
};
const Written kMnist = {"mnist", 60'000, 10'000, 10};
const Written kLetters = {"letters", 124'800, 20'800, 26, 1};
const Written kBalanced = {"balanced", 112'800, 18'800, 47};

class EmnistFiles : public Scratch {
 protected:
  // The four .gz files. Image i of all is of class i mod classes. As it is to be seen, its first
  // row begins with the three bytes of i, and its first column goes on with 201, 202, ...
  void write(const std::string& folder, const Written& what) const {
    write_pair(folder, what, "train", 0, what.train);
    write_pair(folder, what, "test", what.train, what.test);
  }
  // gzip.zip with the files of `folder`.
  void zip(const std::string& name, const std::string& folder) const {
    TarFile archive{fs::path(path(name))};
    archive.add("gzip/emnist-balanced-mapping.txt", "0 48\n");
    for (const auto& file : fs::directory_iterator(path(folder))) {
      archive.add("gzip/" + file.path().filename().string(), read_file(file.path().string()).value());
    }
  }
  static json::object resolved(const json::object& given) {
    return resolve_options(Emnist::facts().options, given, "emnist").value();
  }
  Result<Dataset> loaded(const json::object& given) const {
    const auto options = complete_options(Emnist::facts(), resolved(given));
    return options ? load_dataset("emnist", *options) : Result<Dataset>(options.error());
  }
  testing::AssertionResult refused(const json::object& given, const std::string& part) const {
    const auto data = loaded(given);
    if (!data.has_error()) return testing::AssertionFailure() << "it was loaded";
    if (data.error().message.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << part << "' in: " << data.error().message;
  }
  // The pixels of image i as they are to be seen, scaled as the features `pixels` are.
  static at::Tensor seen(std::uint32_t i) {
    std::array<std::uint8_t, kImagePixels> image = {};
    for (std::size_t p = 0; p < 3; ++p) image[p] = static_cast<std::uint8_t>(i >> (16 - 8 * p));
    for (std::size_t row = 1; row < kImageSide; ++row)
      image[row * kImageSide] = static_cast<std::uint8_t>(200 + row);
    std::array<float, kImagePixels> features;
    pixel_features(image, features);
    return at::tensor(at::ArrayRef<float>(features));
  }
  // The split has the images `first` + rows[i].
  static void expect_images(const SplitData& split, const std::vector<std::int64_t>& rows,
                            std::uint32_t first, const Written& what) {
    ASSERT_EQ(split.labels.size(0), static_cast<std::int64_t>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto number = first + static_cast<std::uint32_t>(rows[i]);
      const auto row = static_cast<std::int64_t>(i);
      EXPECT_TRUE(at::equal(split.features[row], seen(number))) << number;
      EXPECT_EQ(split.labels[row].item<std::int64_t>(), number % what.classes) << number;
    }
  }
  void expect_all(const Dataset& data, const Written& what, const json::object& options) const {
    const auto rows = held_out_rows("emnist", Emnist::all(options), Emnist::sizes(options));
    expect_images(data.private_train, rows.train, 0, what);
    expect_images(data.private_validation, rows.validation, 0, what);
    expect_images(data.test, rows.test, what.train, what);
    std::set<std::int64_t> both(rows.train.begin(), rows.train.end());
    both.insert(rows.validation.begin(), rows.validation.end());
    EXPECT_EQ(both.size(), rows.train.size() + rows.validation.size());
  }
  const ScopedVariable state_folder_{"XDG_STATE_HOME", path("state")};

 private:
  void write_pair(const std::string& folder, const Written& what, const std::string& part,
                  std::uint32_t first, std::uint32_t count) const {
    auto images = idx_head({count, 28, 28}), labels = idx_head({count});
    const auto head = images.size();
    images.resize(head + count * kImagePixels);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto number = first + i;
      // As published: column by column.
      auto* image = images.data() + head + i * kImagePixels;
      for (std::size_t p = 0; p < 3; ++p)
        image[p * kImageSide] = static_cast<std::uint8_t>(number >> (16 - 8 * p));
      for (std::size_t row = 1; row < kImageSide; ++row) image[row] = static_cast<std::uint8_t>(200 + row);
      labels.push_back(static_cast<std::uint8_t>(number % what.classes + what.first_label));
    }
    const auto start = folder + "/emnist-" + what.split + "-" + part;
    write_gz(start + "-images-idx3-ubyte.gz", images);
    write_gz(start + "-labels-idx1-ubyte.gz", labels);
  }
};

const json::object kFew = {{"features", "pixels"}, {"train", 60}, {"validation", 30}, {"test", 40}};

json::object few(const json::object& more) {
  auto options = kFew;
  for (const auto& [name, value] : more) options[name] = value;
  return options;
}

TEST_F(EmnistFiles, OfAFolderStandUprightInDisjointSplits) {
  write("own", kMnist);
  // So many that some would be in both if the splits were not disjoint.
  const auto given = few({{"split", "mnist"}, {"path", path("own")}, {"train", 3000}, {"validation", 600}});
  const auto data = loaded(given);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  expect_all(*data, kMnist, resolved(given));
  expect_foretold_cache(Emnist::facts(), complete_options(Emnist::facts(), resolved(given)).value());
}

TEST_F(EmnistFiles, LettersAreCountedFromOne) {
  write("own", kLetters);
  const auto given = few({{"split", "letters"}, {"path", path("own")}});
  const auto data = loaded(given);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  expect_all(*data, kLetters, resolved(given));
  EXPECT_EQ(data->private_train.labels.min().item<std::int64_t>(), 0);
  EXPECT_EQ(data->private_train.labels.max().item<std::int64_t>(), 25);
}

// Of one archive each selection has its own cache.
TEST_F(EmnistFiles, OfTheArchiveAreChosenByTheSplit) {
  write("own", kMnist);
  write("own", kBalanced);
  zip("data/gzip.zip", "own");
  data_.set(path("data"));
  for (const auto& what : {kBalanced, kMnist}) {
    auto given = few({{"path", "gzip.zip"}});
    if (what.split != "balanced") given["split"] = what.split;  // the default
    const auto data = loaded(given);
    ASSERT_TRUE(data.has_value()) << data.error().message;
    expect_all(*data, what, resolved(given));
  }
}

TEST_F(EmnistFiles, HaveThePublishedSizes) {
  const auto facts = Emnist::facts();
  for (const auto& [split, train, test, classes] : {std::tuple{"balanced", 112'800, 18'800, 47},
                                                    {"byclass", 697'932, 116'323, 62},
                                                    {"bymerge", 697'932, 116'323, 47},
                                                    {"digits", 240'000, 40'000, 10},
                                                    {"letters", 124'800, 20'800, 26},
                                                    {"mnist", 60'000, 10'000, 10}}) {
    const auto n = sizes(facts, complete_options(facts, resolved({{"split", split}})).value());
    EXPECT_EQ(n.private_train + n.private_validation, train) << split;
    EXPECT_EQ(n.private_validation, train / 10) << split;
    EXPECT_EQ(n.test, test) << split;
    EXPECT_EQ(n.classes, classes) << split;
    EXPECT_EQ(n.features, 716) << split;
  }
  EXPECT_TRUE(complete_options(facts, resolved({{"split", "byclass"}, {"train", 628'139}})));
  EXPECT_TRUE(refused({{"split", "mnist"}, {"test", 10'001}},
                      "'test' is 10001, but of split: mnist there are 10000 such records"));
}

TEST_F(EmnistFiles, OfOtherNumbersShapesOrLabelsAreRefused) {
  const auto given = few({{"split", "mnist"}, {"path", path("own")}});
  auto few_images = kMnist;
  few_images.train = 50;
  write("own", few_images);
  EXPECT_TRUE(
      refused(given,
              "emnist-mnist-train-images-idx3-ubyte.gz: 60000 images of 28 x 28 pixels were expected, "
              "but it has 50 x 28 x 28."));
  auto more_classes = kMnist;
  more_classes.first_label = 1;
  write("own", more_classes);
  EXPECT_TRUE(refused(given, "emnist-mnist-train-labels-idx1-ubyte.gz: the label 10 lies outside 0..9"));
  auto from_zero = kLetters;
  from_zero.first_label = 0;
  write("letters", from_zero);
  EXPECT_TRUE(refused({{"split", "letters"}, {"path", path("letters")}}, "the label 0 lies outside 1..26"));
  write("own", kMnist);
  write_gz("own/emnist-mnist-test-labels-idx1-ubyte.gz", idx_head({9'999}));
  EXPECT_TRUE(refused(given, "emnist-mnist-test-labels-idx1-ubyte.gz: ends after"));
  fs::remove(path("own/emnist-mnist-test-labels-idx1-ubyte.gz"));
  EXPECT_TRUE(refused(given, "has no emnist-mnist-test-labels-idx1-ubyte.gz"));
}

// Every file in the archive is itself gzipped.
TEST_F(EmnistFiles, DamagedAreRefused) {
  write("own", kMnist);
  const auto file = path("own/emnist-mnist-train-images-idx3-ubyte.gz");
  const auto whole = read_file(file).value();
  const auto given = few({{"split", "mnist"}, {"path", path("own")}});
  for (const auto& bytes :
       {whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1),
        whole.substr(0, whole.size() - 8) + "\1" + whole.substr(whole.size() - 7), std::string("no gzip")}) {
    ASSERT_TRUE(write_file_atomically(file, bytes).has_value());
    EXPECT_TRUE(refused(given, "emnist-mnist-train-images-idx3-ubyte.gz: it cannot be unpacked"));
  }
}

TEST_F(EmnistFiles, OfANameAreNotTrustedForIt) {
  data_.set(path("data"));
  fs::create_directories(path("data/emnist"));
  std::ofstream(path("data/emnist/gzip.zip")) << "other";
  EXPECT_TRUE(refused({}, "data/emnist/gzip.zip: SHA-256"));
  fs::remove(path("data/emnist/gzip.zip"));
  EXPECT_TRUE(refused({}, "`hyfreedp data fetch emnist`"));
}

TEST_F(EmnistFiles, AreFetchedAndRead) {
  write("own", kMnist);
  zip("gzip.zip", "own");
  const auto archive = read_file(path("gzip.zip")).value();
  const TestServer server(
      [&archive](const auto&, auto& connection) { connection.answer("200 OK", archive); });
  auto facts = Emnist::facts();
  ASSERT_EQ(facts.supply.downloads.size(), 1U);
  auto& download = facts.supply.downloads.front();
  EXPECT_TRUE(download.urls.front().ends_with("/EMNIST/gzip.zip"));
  download.urls = {server.url("/EMNIST/gzip.zip")};
  download.bytes = archive.size();
  // Of another checksum nothing stays.
  EXPECT_TRUE(fetch(facts.supply, fetched_folder(facts), {}).has_error());
  EXPECT_FALSE(fs::exists(fetched_folder(facts) + "/gzip.zip"));
  facts.files.front().sha256 = download.sha256 = sha256_hex(archive);
  const auto fetched = fetch(facts.supply, fetched_folder(facts), {});
  ASSERT_TRUE(fetched) << fetched.error().message;
  const auto options = resolved(few({{"split", "mnist"}}));
  const auto data = Emnist::load(facts, options, "cpu");
  ASSERT_TRUE(data) << data.error().message;
  expect_all(*data, kMnist, options);
}

}  // namespace
}  // namespace hyfreedp::datasets
