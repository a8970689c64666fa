// What consumes a stream takes the piece that is its own, however long the vector, the split or the
// run: no noise and no coin comes again after any number of coordinates, records, steps or
// attempts. The streams themselves are compared with ChaCha20 in
// tests/random/reference_stream_test.cpp.
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "harness/mechanism/batches.h"
#include "harness/mechanism/release/noised_vector.h"
#include "harness/models/model.h"
#include "harness/training/adaptive_clipping.h"
#include "harness/training/augmentation.h"
#include "harness/training/whole_split.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace stream_periods_test {

using random::Purpose;
using torch::Tensor;

const random::Key kKey = random::key_from_seed("tests of periods");
constexpr std::int64_t kLong = (std::int64_t{1} << 21) + 17;

// Steps and attempts at every power of two that an address holds.
std::vector<std::int64_t> powers(int bits) {
  std::vector<std::int64_t> all = {0};
  for (int bit = 0; bit < bits; ++bit) all.push_back(std::int64_t{1} << bit);
  all.push_back((std::int64_t{1} << bits) - 1);
  return all;
}

std::vector<std::uint64_t> words_of(const random::Address& address, std::uint64_t first = 0,
                                    std::size_t count = 2) {
  std::vector<std::uint64_t> words(count);
  random::fill_bits(kKey, address, first, words);
  return words;
}

trial::PrivacyPlan long_plan() {
  auto plan = small_config().privacy;
  plan.clipping.rule = trial::ClippingRule::abadi;
  plan.clipping.constant = 0.4;
  return plan;
}

// Coordinate i has normal i of the step's stream, to the last of two million.
TEST(StreamPeriods, NoiseOfALongGradientIsItsStreamsFromEndToEnd) {
  const auto plan = long_plan();
  std::vector<double> z(static_cast<std::size_t>(kLong));
  random::fill_normals(kKey, address_of(Purpose::gradient_noise, 5, 2), 0, z);
  const double scale = plan.gradient_noise * plan.clipping.sensitivity();
  for (const bool by_pieces : {false, true}) {
    auto sum = torch::zeros({kLong});
    Tensor seen = torch::zeros({kLong});
    const auto keep = [&](std::int64_t begin, std::int64_t end) {
      seen.narrow(0, begin, end - begin).copy_(sum.narrow(0, begin, end - begin));
    };
    release_gradient(plan, kKey, 5, 2, sum, by_pieces ? mechanism::PieceWork(keep) : mechanism::PieceWork{});
    const auto* released = (by_pieces ? seen : sum).data_ptr<float>();
    for (std::int64_t i = 0; i < kLong; ++i) {
      ASSERT_EQ(released[i], static_cast<float>(scale * z[static_cast<std::size_t>(i)]) /
                                 static_cast<float>(plan.batch_size))
          << i;
    }
  }
}

TEST(StreamPeriods, NoiseInDoublePrecisionToo) {
  const auto plan = long_plan();
  constexpr std::int64_t kSize = (std::int64_t{1} << 20) + 100;
  auto sum = torch::zeros({kSize}, torch::kFloat64);
  release_gradient(plan, kKey, 0, 0, sum);
  std::vector<double> z(static_cast<std::size_t>(kSize));
  random::fill_normals(kKey, address_of(Purpose::gradient_noise, 0, 0), 0, z);
  const double scale = plan.gradient_noise * plan.clipping.sensitivity();
  for (std::int64_t i = 0; i < kSize; ++i) {
    ASSERT_EQ(sum.data_ptr<double>()[i], scale * z[static_cast<std::size_t>(i)] / plan.batch_size) << i;
  }
}

TEST(StreamPeriods, NoiseOfALongWideSumToo) {
  const auto plan = long_plan();
  auto sum = torch::zeros({kLong}, torch::kFloat64);
  auto released = torch::empty({kLong});
  release_wide_sum(plan, kKey, 4, 1, sum, released);
  std::vector<double> z(static_cast<std::size_t>(kLong));
  random::fill_normals(kKey, address_of(Purpose::gradient_noise, 4, 1), 0, z);
  const double scale = plan.gradient_noise * plan.clipping.sensitivity();
  for (std::int64_t i = 0; i < kLong; ++i) {
    ASSERT_EQ(released.data_ptr<float>()[i],
              static_cast<float>(scale * z[static_cast<std::size_t>(i)] / plan.batch_size))
        << i;
  }
}

// The noise of every step and attempt whose number has one bit set, and of the last: all different.
TEST(StreamPeriods, NoStepOrAttemptSharesItsNoise) {
  auto plan = long_plan();
  plan.clipping.adaptive = trial::AdaptiveThreshold{.quantile = 0.5, .rate = 0.3, .count_noise = 6};
  plan.asked.feature_mean = trial::FeatureMean{.norm = 2.5, .noise = 8};
  const auto nobody = torch::zeros({0});
  std::set<double> gradients, counts, means;
  std::size_t asked = 0;
  const auto ask = [&](std::int64_t step, std::int64_t attempt) {
    auto sum = torch::zeros({1}, torch::kFloat64);
    release_gradient(plan, kKey, step, attempt, sum);
    gradients.insert(sum.item<double>());
    counts.insert(release_clip_fraction(plan, kKey, step, attempt, nobody));
    ++asked;
  };
  for (const auto step : powers(32)) ask(step, 0);
  for (const auto attempt : powers(16)) {
    if (attempt > 0) ask(0, attempt);
    means.insert(release_feature_mean(plan, kKey, attempt, torch::zeros({1, 1})).item<double>());
  }
  EXPECT_EQ(gradients.size(), asked);
  EXPECT_EQ(counts.size(), asked);
  EXPECT_EQ(means.size(), powers(16).size());
}

// Record i is in a batch by coin i of the step's stream, to the last of two million.
TEST(StreamPeriods, CoinsOfALongSplitAreItsStreamsFromEndToEnd) {
  auto plan = probing_config(true).privacy;
  plan.population = kLong;
  plan.sample_rate = plan.probe->sample_rate = 0.25;
  const auto expect_own_coins = [&](const std::vector<std::int64_t>& rows, Purpose purpose) {
    const auto words = words_of(address_of(purpose, 7, 1), 0, static_cast<std::size_t>(kLong));
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] < std::uint64_t{1} << 62) expected.push_back(static_cast<std::int64_t>(i));
    }
    EXPECT_TRUE(rows == expected);
  };
  expect_own_coins(gradient_rows(plan, kKey, 7, 1).indices, Purpose::sampling);
  expect_own_coins(probe_rows(plan, kKey, 7, 1).indices, Purpose::probe_sampling);
}

TEST(StreamPeriods, NoStepOrAttemptSharesItsBatch) {
  const auto plan = probing_config(true).privacy;
  auto shuffled = exact_config().privacy;
  shuffled.sampler = trial::Sampler::shuffle;
  std::set<std::vector<std::int64_t>> batches, orders;
  std::size_t asked = 0, shuffles = 0;
  const auto ask = [&](std::int64_t step, std::int64_t attempt) {
    batches.insert(gradient_rows(plan, kKey, step, attempt).indices);
    batches.insert(probe_rows(plan, kKey, step, attempt).indices);
    asked += 2;
    // One order for each ten batches.
    if (step > 0xffffffff / 10) return;
    orders.insert(gradient_rows(shuffled, kKey, 10 * step, attempt).indices);
    ++shuffles;
  };
  for (const auto step : powers(32)) ask(step, 0);
  for (const auto attempt : powers(16)) {
    if (attempt > 0) ask(0, attempt);
  }
  EXPECT_EQ(batches.size(), asked);
  EXPECT_EQ(orders.size(), shuffles);
}

// No two purposes of one step share an address: what is drawn for one says nothing about another.
TEST(StreamPeriods, NoTwoPurposesOfAStepShareAStream) {
  std::set<std::vector<std::uint64_t>> seen;
  std::size_t asked = 0;
  for (const auto purpose :
       {Purpose::sampling, Purpose::gradient_noise, Purpose::probe_sampling, Purpose::probe_noise,
        Purpose::initialisation, Purpose::score_noise, Purpose::selection, Purpose::split,
        Purpose::synthetic_data, Purpose::shuffling, Purpose::validation_sampling, Purpose::clip_count_noise,
        Purpose::augmentation}) {
    for (const std::int64_t step : {0, 12}) {
      const auto address = address_of(purpose, step, 0);
      EXPECT_EQ(address.purpose, purpose);
      seen.insert(words_of(address));
      ++asked;
    }
  }
  // The feature mean's noise is the gradient's purpose in a lane of its own.
  auto of_mean = address_of(Purpose::gradient_noise, 0, 0);
  of_mean.lane = 1;
  seen.insert(words_of(of_mean));
  EXPECT_EQ(seen.size(), asked + 1);
}

TEST(StreamPeriods, TheFeatureMeansNoiseIsNoGradientsAndRunsOnForLongFeatures) {
  auto plan = long_plan();
  plan.asked.feature_mean = trial::FeatureMean{.norm = 2.5, .noise = 8};
  plan.population = 10;
  constexpr std::int64_t kFeatures = (std::int64_t{1} << 20) + 33;
  const auto mean = release_feature_mean(plan, kKey, 3, torch::zeros({1, kFeatures}));
  auto address = address_of(Purpose::gradient_noise, 0, 3);
  address.lane = 1;
  std::vector<double> z(static_cast<std::size_t>(kFeatures));
  random::fill_normals(kKey, address, 0, z);
  for (std::int64_t i = 0; i < kFeatures; ++i) {
    ASSERT_EQ(mean.data_ptr<double>()[i], 8 * 2.5 * z[static_cast<std::size_t>(i)] / 10) << i;
  }
}

// Initial weights are public; a weight that came again would be another model than the one
// described.
TEST(StreamPeriods, InitialWeightsOfALargeTensorAreItsStreamsFromEndToEnd) {
  const models::ModelInput input{.features = 1100, .classes = 2};
  const auto options = model_named("mlp", {{"hidden", json::array{1000}}}).options;
  const auto network = models::make_model("mlp", options, input, kKey, torch::kFloat64).value();
  const auto weights = network.parameters().narrow(0, 0, 1100 * 1000).contiguous();
  std::vector<double> z(static_cast<std::size_t>(weights.numel()));
  random::fill_normals(kKey, {.purpose = Purpose::initialisation}, 0, z);
  const double scale = weights[0].item<double>() / z[0];
  for (std::size_t i = 0; i < z.size(); ++i) {
    ASSERT_NEAR(weights.data_ptr<double>()[i], scale * z[i], 1e-12) << i;
  }
}

// Copy m of row i is word i M + m: of rows far apart as of neighbours. An image of distinct pixels
// tells which.
TEST(StreamPeriods, EveryRowIsAugmentedByItsOwnWord) {
  Augmentation augmentation({.copies = 2, .flip = true, .shift = 7, .padding = trial::Padding::zero},
                            {1, 16, 16});
  const auto address = address_of(Purpose::augmentation, 9, 1);
  augmentation.draw_from(kKey, address);
  std::vector<std::int64_t> rows;
  for (int bit = 0; bit < 33; ++bit) rows.push_back(std::int64_t{1} << bit);
  rows.push_back(3);
  rows.push_back((std::int64_t{1} << 20) + 3);
  const auto image = torch::arange(1, 257, torch::kFloat64).view({1, 256});
  const auto n = static_cast<std::int64_t>(rows.size());
  const auto copies = augmentation(image.expand({n, 256}).contiguous(), rows).view({2 * n, 16, 16});
  for (std::int64_t m = 0; m < 2; ++m) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto first = static_cast<std::uint64_t>(2 * rows[static_cast<std::size_t>(i)] + m);
      const auto word = words_of(address, first, 1)[0];
      const auto down = static_cast<std::int64_t>((((word >> 8) & 0xffffff) * 15) >> 24) - 7;
      const auto right = static_cast<std::int64_t>((((word >> 32) & 0xffffff) * 15) >> 24) - 7;
      const bool flipped = (word & 1) != 0;
      // The pixel in the middle, which no shift moves out of the picture.
      const auto column = (flipped ? 15 - 8 : 8) + right;
      EXPECT_EQ(copies[m * n + i][8][8].item<double>(), static_cast<double>((8 + down) * 16 + column + 1))
          << "row " << rows[static_cast<std::size_t>(i)] << " copy " << m;
    }
  }
}

}  // namespace stream_periods_test
}  // namespace hyfreedp::training
