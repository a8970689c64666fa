#include <gtest/gtest.h>
#include <set>

#include "harness/mechanism/batches.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace sampler_test {

const random::Key kKey = random::key_from_seed("tests of the sampler");

TEST(Sampler, BatchesAreAFunctionOfStepAndAttempt) {
  const auto plan = small_config().privacy;
  const auto rows = gradient_rows(plan, kKey, 4, 0);
  EXPECT_EQ(rows.indices, gradient_rows(plan, kKey, 4, 0).indices);
  EXPECT_NE(rows.indices, gradient_rows(plan, kKey, 5, 0).indices);
  EXPECT_NE(rows.indices, gradient_rows(plan, kKey, 4, 1).indices);
  EXPECT_EQ(rows.count, static_cast<std::int64_t>(rows.indices.size()));
}

// The mask is secret because the key is: another run draws other rows.
TEST(Sampler, BatchesFollowTheKey) {
  const auto other = random::key_from_seed("another run");
  const auto plan = probing_config(true).privacy;
  EXPECT_NE(gradient_rows(plan, kKey, 5, 0).indices, gradient_rows(plan, other, 5, 0).indices);
  EXPECT_NE(probe_rows(plan, kKey, 5, 0).indices, probe_rows(plan, other, 5, 0).indices);
  auto shuffled = exact_config().privacy;
  shuffled.sampler = trial::Sampler::shuffle;
  const auto rows = gradient_rows(shuffled, kKey, 0, 0).indices;
  EXPECT_NE(rows, gradient_rows(shuffled, other, 0, 0).indices);
  EXPECT_NE(rows, gradient_rows(shuffled, kKey, 0, 1).indices);
}

TEST(Sampler, ProbeBatchHasCoinsOfItsOwn) {
  auto plan = probing_config(true).privacy;
  const auto rows = probe_rows(plan, kKey, 5, 0).indices;
  EXPECT_NE(rows, probe_rows(plan, kKey, 10, 0).indices);
  EXPECT_NE(rows, probe_rows(plan, kKey, 5, 1).indices);
  EXPECT_NE(gradient_rows(plan, kKey, 5, 0).indices, probe_rows(plan, kKey, 5, 0).indices);
  plan.probe->sample_rate = 1;
  EXPECT_EQ(probe_rows(plan, kKey, 5, 0).count, 600);
}

TEST(Sampler, FullBatchIsEveryRow) {
  auto plan = small_config().privacy;
  plan.sampler = trial::Sampler::full_batch;
  plan.sample_rate = 1;
  const auto rows = gradient_rows(plan, kKey, 0, 0);
  EXPECT_TRUE(rows.all);
  EXPECT_EQ(rows.count, 600);
}

TEST(Sampler, ShufflingVisitsEachRowOnceAnEpochAndIsNeverPrivate) {
  auto plan = exact_config().privacy;
  plan.sampler = trial::Sampler::shuffle;
  std::multiset<std::int64_t> seen;
  for (std::int64_t step = 10; step < 20; ++step) {
    const auto rows = gradient_rows(plan, kKey, step, 0);
    EXPECT_EQ(rows.count, 60);
    seen.insert(rows.indices.begin(), rows.indices.end());
  }
  EXPECT_EQ(seen.size(), 600U);
  EXPECT_EQ(std::set<std::int64_t>(seen.begin(), seen.end()).size(), 600U);
  EXPECT_NE(gradient_rows(plan, kKey, 0, 0).indices, gradient_rows(plan, kKey, 10, 0).indices);
  plan.is_private = true;
  EXPECT_THROW(gradient_rows(plan, kKey, 0, 0), std::logic_error);
}

TEST(Sampler, AttemptsBeyondTheAddressAreRefused) {
  EXPECT_THROW(address_of(random::Purpose::sampling, 0, 65536), std::logic_error);
  EXPECT_THROW(address_of(random::Purpose::sampling, -1, 0), std::logic_error);
}

}  // namespace sampler_test
}  // namespace hyfreedp::training
