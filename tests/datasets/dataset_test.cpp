#include "datasets/dataset.h"

#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

#include "datasets/formats/idx.h"
#include "datasets/image/hog.h"
#include "datasets/subset.h"
#include "harness/base/files.h"
#include "harness/random/partition.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

json::object resolved(const std::string& name, const json::object& given = {}) {
  return *resolve_options((*find_dataset(name))->options, given, name);
}

class LoadDataset : public Scratch {};

void expect_shapes(const Dataset& data, const Sizes& n) {
  for (const auto& [part, rows] : {std::pair{data.private_train, n.private_train},
                                   {data.private_validation, n.private_validation},
                                   {data.test, n.test}}) {
    EXPECT_EQ(part.features.sizes().vec(), (std::vector<std::int64_t>{rows, n.features}));
    EXPECT_EQ(part.labels.scalar_type(), n.labels == LabelKind::real ? at::kFloat : at::kLong);
    if (n.length > 0) {
      EXPECT_EQ(n.features, n.length);
      EXPECT_EQ(n.classes, n.vocabulary);
      EXPECT_EQ(part.labels.sizes(), part.features.sizes());
      EXPECT_EQ(part.features.scalar_type(), at::kLong);
      EXPECT_GE(part.features.min().item<std::int64_t>(), 0);
      EXPECT_LT(part.features.max().item<std::int64_t>(), n.vocabulary);
      EXPECT_TRUE(at::logical_or(part.labels == part.features, part.labels == kNotScored).all().item<bool>());
      continue;
    }
    if (n.image[0] > 0) {
      EXPECT_EQ(n.features, n.image[0] * n.image[1] * n.image[2]);
    }
    EXPECT_EQ(part.labels.sizes().vec(), std::vector<std::int64_t>{rows});
    EXPECT_EQ(part.features.scalar_type(), at::kFloat);
    EXPECT_TRUE(part.features.is_contiguous());
    if (n.labels == LabelKind::real) {
      EXPECT_TRUE(at::isfinite(part.labels).all().item<bool>());
    } else {
      EXPECT_GE(part.labels.min().item<std::int64_t>(), 0);
      EXPECT_LT(part.labels.max().item<std::int64_t>(), n.classes);
    }
    EXPECT_TRUE(at::isfinite(part.features).all().item<bool>());
  }
  EXPECT_THROW((void)data.split(Split::public_data), std::logic_error);
}

// Every registered dataset loads with the sizes that its facts promise, or says that it is not
// installed.
TEST_F(LoadDataset, EveryRegisteredDatasetHasTheSizesOfItsFacts) {
  for (const auto& facts : dataset_facts()) {
    SCOPED_TRACE(facts.name);
    if (locate(facts).has_error()) {
      std::cout << "SKIPPED: " << locate(facts).error().message << "\n";
      EXPECT_TRUE(load_dataset(facts.name, resolved(facts.name)).has_error());
      continue;
    }
    const auto completed = complete_options(facts, resolved(facts.name));
    if (!completed) {
      ASSERT_TRUE(facts.own_records) << completed.error().message;
      std::cout << "SKIPPED: it needs files of the user; " << completed.error().message << "\n";
      continue;
    }
    const auto& options = *completed;
    const auto data = load_dataset(facts.name, options);
    ASSERT_TRUE(data.has_value()) << data.error().message;
    expect_shapes(*data, sizes(facts, options));
    if (cache_file(facts, options, "cpu")) expect_foretold_cache(facts, options);
  }
}

// As a set of ood_test it is loaded: without a record of another split.
TEST_F(LoadDataset, ATestSplitAloneIsThatOfTheWhole) {
  std::size_t alone = 0;
  for (const auto& facts : dataset_facts()) {
    if (!facts.files.empty() || facts.own_records) continue;
    SCOPED_TRACE(facts.name);
    const auto options = resolved(facts.name);
    const auto whole = load_dataset(facts.name, options).value();
    const auto only = test_alone(facts, options);
    ASSERT_TRUE(only) << only.error().message;
    const auto data = load_dataset(facts.name, *only).value();
    EXPECT_EQ(data.private_train.features.size(0), 0);
    EXPECT_EQ(data.private_validation.labels.size(0), 0);
    EXPECT_TRUE(at::equal(data.test.features, whole.test.features));
    EXPECT_TRUE(at::equal(data.test.labels, whole.test.labels));
    ++alone;
  }
  EXPECT_GE(alone, 4U);
  EXPECT_TRUE(test_alone(*find_dataset("adult").value(), resolved("adult")).has_error());
}

TEST_F(LoadDataset, AnUnknownNameIsAnError) { EXPECT_TRUE(load_dataset("fashion", {}).has_error()); }

TEST_F(LoadDataset, SyntheticIsTheSameEachTimeAndLongerBeginsWithShorter) {
  const auto one = *load_dataset("synthetic", resolved("synthetic", {{"train", 50}}));
  const auto two = *load_dataset("synthetic", resolved("synthetic", {{"train", 80}}));
  EXPECT_TRUE(at::equal(one.private_train.features, two.private_train.features.slice(0, 0, 50)));
  EXPECT_TRUE(at::equal(one.private_train.labels, two.private_train.labels.slice(0, 0, 50)));
  EXPECT_TRUE(at::equal(one.test.features, two.test.features));
}

TEST_F(LoadDataset, APartHasItsRecordsOfTheTrainingSplitAndAllOfTheOthers) {
  const auto options = resolved("synthetic", {{"train", 400}});
  const auto all = *load_dataset("synthetic", options);
  std::int64_t records = 0;
  for (const char* name : {random::kTuningPart, random::kRestPart}) {
    const random::Part part{name, 0.3, "key"};
    const auto data = *load_dataset("synthetic", random::with_part(options, part));
    const auto indices = random::part_indices(part, 400);
    ASSERT_EQ(data.private_train.features.size(0), static_cast<std::int64_t>(indices.size()));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      ASSERT_TRUE(at::equal(data.private_train.features[row], all.private_train.features[indices[i]]));
      ASSERT_TRUE(at::equal(data.private_train.labels[row], all.private_train.labels[indices[i]]));
    }
    EXPECT_TRUE(at::equal(data.private_validation.features, all.private_validation.features));
    EXPECT_TRUE(at::equal(data.test.labels, all.test.labels));
    records += data.private_train.features.size(0);
  }
  EXPECT_EQ(records, 400);
  EXPECT_TRUE(load_dataset("synthetic", random::with_part(options, {"half", 0.3, "key"})).has_error());
}

// With all means at the origin the features are the noise alone, of which no two splits may share a
// draw.
TEST_F(LoadDataset, SyntheticSplitsHaveNoiseOfTheirOwn) {
  const auto data = *load_dataset("synthetic", resolved("synthetic", {{"train", 500}, {"separation", 0.0}}));
  const auto shared = [](const SplitData& a, const SplitData& b) {
    return (a.features == b.features).sum().item<std::int64_t>();
  };
  EXPECT_LT(shared(data.private_train, data.private_validation), 5);
  EXPECT_LT(shared(data.private_train, data.test), 5);
  EXPECT_LT(shared(data.private_validation, data.test), 5);
  EXPECT_EQ(shared(data.test, data.test), 500 * 16);
}

// Distances from the class means are those of a standard normal: E|x - mean|^2 = p, sd of the
// average sqrt(2 p / n).
TEST_F(LoadDataset, SyntheticClassesAreUnitGaussiansAtTheSeparation) {
  const auto data = *load_dataset(
      "synthetic",
      resolved("synthetic", {{"train", 30000}, {"classes", 2}, {"features", 10}, {"separation", 5.0}}));
  const auto& x = data.private_train.features;
  const auto& y = data.private_train.labels;
  double squares = 0.0;
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto mine = x.index_select(0, at::nonzero(y == k).squeeze(1));
    const auto mean = mine.mean(0);
    EXPECT_NEAR(static_cast<double>(mine.size(0)), 15000.0, 6 * 86.6);
    EXPECT_NEAR(mean.norm().item<double>(), 5.0, 0.1);
    squares += (mine - mean).square().sum().item<double>();
  }
  EXPECT_NEAR(squares / 30000.0, 10.0, 6 * std::sqrt(20.0 / 30000.0) + 0.01);
}

TEST_F(LoadDataset, SyntheticRefusesWhatWouldNotFit) {
  const auto data =
      load_dataset("synthetic", resolved("synthetic", {{"train", 10000000}, {"features", 100000}}));
  ASSERT_TRUE(data.has_error());
  EXPECT_NE(data.error().message.find("synthetic"), std::string::npos);
}

// A pixel's variance within a class is 1 and a class's pattern has the root mean square that was
// asked for: 2000 images a class of 768 pixels; the tolerances are above six standard deviations.
TEST_F(LoadDataset, GeneratedImagesHavePatternsAndUnitNoise) {
  const auto data = *load_dataset(
      "synthetic-images", resolved("synthetic-images", {{"train", 4000}, {"classes", 2}, {"contrast", 0.7}}));
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto mine =
        data.private_train.features.index_select(0, at::nonzero(data.private_train.labels == k).squeeze(1));
    const auto pattern = mine.mean(0);
    EXPECT_NEAR(pattern.square().mean().sqrt().item<double>(), 0.7, 0.01);
    EXPECT_NEAR((mine - pattern).square().mean().item<double>(), 1.0, 0.01);
    // Cells of 4 x 4 pixels share one value.
    const auto cells = pattern.view({3, 4, 4, 4, 4}).permute({0, 1, 3, 2, 4}).reshape({48, 16});
    EXPECT_LT(cells.std(1).max().item<double>(), 0.1);
  }
}

TEST_F(LoadDataset, GeneratedTokensFollowTheirChain) {
  const auto data =
      *load_dataset("synthetic-tokens", resolved("synthetic-tokens", {{"vocabulary", 8}, {"noise", 0.25}}));
  const auto& ids = data.private_train.features;
  const auto before = ids.narrow(1, 0, 15).reshape({-1});
  const auto after = ids.narrow(1, 1, 15).reshape({-1});
  for (std::int64_t v = 0; v < 8; ++v) {
    const auto counts = at::bincount(after.masked_select(before == v), {}, 8);
    // 0.75 + 0.25 / 8; some 3750 pairs, so that a deviation of 0.04 is more than six standard
    // deviations.
    const double most = counts.max().item<double>() / counts.sum().item<double>();
    EXPECT_NEAR(most, 0.78125, 0.04);
  }
  const auto shorter = *load_dataset(
      "synthetic-tokens", resolved("synthetic-tokens", {{"vocabulary", 8}, {"noise", 0.25}, {"train", 100}}));
  EXPECT_TRUE(at::equal(shorter.private_train.features, ids.narrow(0, 0, 100)));
}

TEST_F(LoadDataset, AWrongChecksumIsRefusedAndNotCached) {
  data_.set(path("data"));
  for (const auto& file : (*find_dataset("fashion-mnist"))->files) {
    write_gz("data/fashion-mnist/" + file.name, {0, 0, 8, 1, 0, 0, 0, 1, 3});
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto data = load_dataset("fashion-mnist", resolved("fashion-mnist"));
    ASSERT_TRUE(data.has_error());
    EXPECT_NE(data.error().message.find("SHA-256"), std::string::npos) << data.error().message;
    EXPECT_NE(data.error().message.find(path("data/fashion-mnist/train-images")), std::string::npos);
    EXPECT_NE(data.error().message.find("apt-get install dataset-fashion-mnist"), std::string::npos);
  }
}

class FashionMnist : public Scratch {
 protected:
  void SetUp() override {
    const auto folder = locate(**find_dataset("fashion-mnist"));
    if (folder.has_error()) GTEST_SKIP() << "SKIPPED: " << folder.error().message;
    source_ = *folder;
  }
  std::string source_;
};

TEST_F(FashionMnist, FewerRecordsAreSomeOfThem) {
  const auto all = load_dataset("fashion-mnist", resolved("fashion-mnist", {{"features", "pixels"}})).value();
  const auto some =
      load_dataset("fashion-mnist",
                   resolved("fashion-mnist",
                            {{"features", "pixels"}, {"train", 300}, {"validation", 70}, {"test", 50}}))
          .value();
  const auto expect_rows = [](const SplitData& part, const SplitData& whole, Split split,
                              std::int64_t count) {
    const auto rows =
        at::tensor(keyed_subset("fashion-mnist", split, whole.labels.size(0), count), at::kLong);
    EXPECT_TRUE(at::equal(part.features, whole.features.index_select(0, rows)));
    EXPECT_TRUE(at::equal(part.labels, whole.labels.index_select(0, rows)));
  };
  expect_rows(some.private_train, all.private_train, Split::private_train, 300);
  expect_rows(some.private_validation, all.private_validation, Split::private_validation, 70);
  expect_rows(some.test, all.test, Split::test, 50);
}

// Rows are where the splits say, found again from the files themselves.
TEST_F(FashionMnist, SplitsAreTheRowsTheyClaim) {
  const auto data = load_dataset("fashion-mnist", resolved("fashion-mnist"));
  ASSERT_TRUE(data.has_value()) << data.error().message;
  const auto images = read_idx(source_ + "/train-images-idx3-ubyte.gz");
  const auto labels = read_idx(source_ + "/train-labels-idx1-ubyte.gz");
  ASSERT_TRUE(images.has_value() && labels.has_value());
  const auto expect_row = [&](const SplitData& split, std::int64_t row, std::size_t source) {
    std::array<float, kHogFeatures> features;
    hog_features(std::span<const std::uint8_t, kImagePixels>(images->bytes.data() + source * kImagePixels,
                                                             kImagePixels),
                 features);
    EXPECT_TRUE(at::equal(split.features[row], at::tensor(at::ArrayRef<float>(features)))) << source;
    EXPECT_EQ(split.labels[row].item<std::int64_t>(), labels->bytes[source]);
  };
  expect_row(data->private_train, 0, 0);
  expect_row(data->private_train, 49999, 49999);
  expect_row(data->private_validation, 0, 50000);
  expect_row(data->private_validation, 9999, 59999);
  // Classes of the test file: 1000 each.
  EXPECT_TRUE(at::equal(at::bincount(data->test.labels), at::full({10}, 1000, at::kLong)));
  const auto norms = data->private_train.features.norm(2, 1);
  EXPECT_TRUE(at::allclose(norms, at::full_like(norms, std::sqrt(716.0))));
}

TEST_F(FashionMnist, TheCacheServesTheSecondLoadAndOptionsHaveTheirOwn) {
  ASSERT_TRUE(load_dataset("fashion-mnist", resolved("fashion-mnist")).has_value());
  const auto count = [this] {
    const std::filesystem::directory_iterator files(path("cache/hyfreedp/features"));
    return std::count_if(begin(files), end(files),
                         [](const auto& file) { return file.path().extension() == ".bin"; });
  };
  EXPECT_EQ(count(), 1);
  {  // The source is not needed any more.
    data_.set(path("empty"));
    const auto again = load_dataset("fashion-mnist", resolved("fashion-mnist"));
    ASSERT_TRUE(again.has_value()) << again.error().message;
    data_.set({});
  }
  const auto pixels = load_dataset("fashion-mnist", resolved("fashion-mnist", {{"features", "pixels"}}));
  ASSERT_TRUE(pixels.has_value());
  EXPECT_EQ(pixels->test.features.size(1), 784);
  EXPECT_EQ(count(), 2);
}

}  // namespace
}  // namespace hyfreedp::datasets
