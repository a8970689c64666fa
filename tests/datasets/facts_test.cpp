#include "datasets/facts.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "datasets/dataset.h"
#include "datasets/subset.h"
#include "harness/base/files.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

const Facts& facts_of(const std::string& name) { return **find_dataset(name); }

json::object resolved(const std::string& name, const json::object& given = {}) {
  return *resolve_options(facts_of(name).options, given, name);
}

bool mentions(const std::string& message, const std::string& what) {
  return message.find(what) != std::string::npos;
}

TEST(DatasetFacts, AnUnknownNameNamesTheNearest) {
  const auto wrong = find_dataset("fashion_mnist");
  ASSERT_TRUE(wrong.has_error());
  EXPECT_TRUE(mentions(wrong.error().message, "Did you mean 'fashion-mnist'?"));
}

TEST(DatasetFacts, EveryEntryIsCompleteAndNamedOnce) {
  std::set<std::string> names;
  for (const auto& facts : dataset_facts()) {
    SCOPED_TRACE(facts.name);
    EXPECT_TRUE(names.insert(facts.name).second);
    EXPECT_FALSE(facts.title.empty() || facts.source.empty() || facts.how_to_get.empty());
    EXPECT_EQ(facts.files.empty(), facts.search_paths.empty());
    for (const auto& file : facts.files) {
      // Of an unpinned file the number of bytes is checked (verify_files).
      const auto wanted = std::ranges::find(facts.supply.downloads, file.name, &Download::name);
      const bool sized = wanted != facts.supply.downloads.end() && wanted->bytes > 0;
      if (file.sha256.empty() && sized) continue;
      EXPECT_EQ(file.sha256.size(), 64u);
      EXPECT_EQ(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos);
    }
    const auto n = sizes(facts, resolved(facts.name));
    EXPECT_EQ(facts.test_only, facts.files.size() > 0 && n.private_train + n.private_validation == 0);
    if (facts.test_only) {
      EXPECT_GT(n.test, 0);
    }
    // Counted in the user's own files.
    if (facts.complete != nullptr && n.private_train == 0) continue;
    EXPECT_GT(n.private_train, 0);
    EXPECT_GT(n.test, 0);
    EXPECT_GE(n.classes, n.labels == LabelKind::real ? 1 : 2);
    EXPECT_GT(n.features, 0);
  }
}

TEST(DatasetFacts, ASubsetIsFixedAndPartOfALargerOne) {
  const auto all = keyed_subset("d", Split::test, 50, 50);
  const auto some = keyed_subset("d", Split::test, 50, 20);
  const auto few = keyed_subset("d", Split::test, 50, 7);
  EXPECT_EQ(all.front(), 0);
  EXPECT_EQ(all.back(), 49);
  EXPECT_EQ(some.size(), 20u);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_TRUE(std::includes(some.begin(), some.end(), few.begin(), few.end()));
  EXPECT_NE(some, keyed_subset("d", Split::private_train, 50, 20));
  EXPECT_NE(some, keyed_subset("e", Split::test, 50, 20));
  EXPECT_NE(some.back(), 19);  // not merely the first ones
  const Sizes sizes = with_counts({.private_train = 50, .private_validation = 9, .test = 8}, {{"train", 3}});
  EXPECT_EQ(sizes, (Sizes{.private_train = 3, .private_validation = 9, .test = 8}));
}

TEST(DatasetFacts, TrainingDataArePublicWhereTheyAreGeneratedOrDeclaredSo) {
  EXPECT_TRUE(training_split_is_public("synthetic", {}));
  EXPECT_FALSE(training_split_is_public("adult", {}));
  EXPECT_FALSE(training_split_is_public("no such dataset", {{"public", true}}));
  EXPECT_FALSE(training_split_is_public("image-folder", {{"public", false}}));
  EXPECT_TRUE(training_split_is_public("image-folder", {{"public", true}}));
  EXPECT_TRUE(training_split_is_public({{"name", "cifar10"}, {"options", {{"public", true}}}}));
  EXPECT_FALSE(training_split_is_public({{"name", "cifar10"}}));
  EXPECT_TRUE(training_values_are_released(true, "adult", {}));
  EXPECT_FALSE(training_values_are_released(false, "adult", {}));
}

TEST(DatasetFacts, SizesOfFashionMnist) {
  const auto& facts = facts_of("fashion-mnist");
  const Sizes expected = {.private_train = 50000,
                          .private_validation = 10000,
                          .public_data = 0,
                          .test = 10000,
                          .classes = 10,
                          .features = 716};
  EXPECT_EQ(sizes(facts, resolved("fashion-mnist")), expected);
  const auto pixels = sizes(facts, resolved("fashion-mnist", {{"features", "pixels"}}));
  EXPECT_EQ(pixels.features, 784);
  EXPECT_EQ(pixels.image, (std::array<std::int64_t, 3>{1, 28, 28}));
}

TEST(DatasetFacts, SizesOfSyntheticAreItsOptions) {
  const Sizes expected = {
      .private_train = 7, .private_validation = 5, .public_data = 0, .test = 3, .classes = 4, .features = 6};
  EXPECT_EQ(sizes(facts_of("synthetic"),
                  resolved("synthetic",
                           {{"train", 7}, {"validation", 5}, {"test", 3}, {"classes", 4}, {"features", 6}})),
            expected);
}

class Locating : public Scratch {};

TEST_F(Locating, TheDataFolderComesFirst) {
  const auto& facts = facts_of("fashion-mnist");
  data_.set(path("data"));
  for (const auto& file : facts.files) {
    ASSERT_TRUE(write_file_atomically(path("data/fashion-mnist/" + file.name), "x").has_value());
  }
  const auto found = locate(facts);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, path("data/fashion-mnist"));
}

TEST_F(Locating, AMissingDatasetNamesPackageCommandAndFolders) {
  Facts facts = facts_of("fashion-mnist");
  facts.search_paths = {"$HYFREEDP_DATA/fashion-mnist", path("nowhere")};
  auto missing = locate(facts);
  ASSERT_TRUE(missing.has_error());
  EXPECT_TRUE(mentions(missing.error().message, "apt-get install dataset-fashion-mnist"));
  EXPECT_TRUE(mentions(missing.error().message, path("nowhere")));
  EXPECT_TRUE(mentions(missing.error().message, "HYFREEDP_DATA is not set"));
  // A folder that lacks one file is not taken.
  data_.set(path("data"));
  for (std::size_t i = 0; i + 1 < facts.files.size(); ++i) {
    ASSERT_TRUE(write_file_atomically(path("data/fashion-mnist/" + facts.files[i].name), "x").has_value());
  }
  missing = locate(facts);
  ASSERT_TRUE(missing.has_error());
  EXPECT_TRUE(mentions(missing.error().message, path("data/fashion-mnist")));
  EXPECT_TRUE(mentions(missing.error().message, facts.files.back().name));
}

TEST_F(Locating, AGeneratedDatasetNeedsNoFolder) {
  const auto found = locate(facts_of("synthetic"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, "");
}

TEST(DatasetFacts, FactsWithoutSizesAreRefusedByName) {
  Facts unknown = facts_of("fashion-mnist");
  unknown.name = "fashion-mnist-2";
  unknown.sizes = nullptr;
  try {
    sizes(unknown, {});
    ADD_FAILURE() << "a dataset without sizes got some";
  } catch (const std::logic_error& refused) {
    EXPECT_TRUE(mentions(refused.what(), "'fashion-mnist-2' has no sizes")) << refused.what();
  }
  for (const auto& facts : dataset_facts()) EXPECT_NO_THROW(sizes(facts, resolved(facts.name))) << facts.name;
}

}  // namespace
}  // namespace hyfreedp::datasets
