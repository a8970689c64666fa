// Two parts of the data: disjoint, together everything, by coins that are each record's own.
#include "harness/random/partition.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace hyfreedp::random {
namespace partition_test {

std::vector<std::int64_t> indices(const char* name, double rate, const std::string& key,
                                  std::int64_t population) {
  return part_indices({name, rate, key}, population);
}

TEST(Partition, EveryRecordIsInOnePart) {
  for (const double rate : {0.001, 0.3, 0.999}) {
    auto all = indices(kTuningPart, rate, "a", 5000);
    const auto rest = indices(kRestPart, rate, "a", 5000);
    // Within 5 standard deviations: false failure below 1e-6 a rate, and the key is fixed.
    EXPECT_NEAR(static_cast<double>(all.size()), 5000 * rate, 5 * std::sqrt(5000 * rate * (1 - rate)));
    EXPECT_TRUE(std::ranges::is_sorted(all) && std::ranges::is_sorted(rest));
    all.insert(all.end(), rest.begin(), rest.end());
    std::ranges::sort(all);
    ASSERT_EQ(all.size(), 5000u);
    for (std::int64_t i = 0; i < 5000; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
  }
}

// Another record's presence must not move it.
TEST(Partition, ARecordsCoinDoesNotDependOnHowManyThereAre) {
  auto more = indices(kTuningPart, 0.3, "a", 1001);
  std::erase(more, 1000);
  EXPECT_EQ(indices(kTuningPart, 0.3, "a", 1000), more);
}

TEST(Partition, AnotherKeyIsAnotherPartition) {
  EXPECT_NE(indices(kTuningPart, 0.3, "a", 1000), indices(kTuningPart, 0.3, "b", 1000));
  EXPECT_EQ(indices(kTuningPart, 0.3, "a", 1000), indices(kTuningPart, 0.3, "a", 1000));
  EXPECT_TRUE(indices(kTuningPart, 0.3, "a", 0).empty());
}

TEST(Partition, IsReadBackFromADatasetsOptions) {
  const json::object options{{"features", 16}};
  EXPECT_FALSE(part_of(options).value());
  const auto with = with_part(options, {kRestPart, 0.25, "a"});
  const auto part = part_of(with).value().value();
  EXPECT_EQ(part.name, kRestPart);
  EXPECT_TRUE(part.is_beside({kTuningPart, 0.25, "a"}));
  EXPECT_FALSE(part.is_beside({kTuningPart, 0.5, "a"}));
  EXPECT_FALSE(part.is_beside({kTuningPart, 0.25, "b"}));
  EXPECT_EQ(without_part(with), options);
  EXPECT_FALSE(part_of(with_part(options, {"half", 0.25, "a"})));
  EXPECT_FALSE(part_of(with_part(options, {kRestPart, 1, "a"})));
  EXPECT_FALSE(part_of(with_part(options, {kRestPart, 0, "a"})));
}

}  // namespace partition_test
}  // namespace hyfreedp::random
