#include "harness/training/augmentation.h"

#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "datasets/moved_copies.h"
#include "harness/models/model.h"
#include "harness/training/gradient.h"
#include "tests/models/compare.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace augmentation_test {

using models::near_relative;
using torch::Tensor;

const random::Key kKey = random::key_from_seed("tests of augmentation");
constexpr std::array<std::int64_t, 3> kImage{1, 14, 14};

Augmentation augmentation(const trial::Augmentations& options, std::int64_t step = 0) {
  Augmentation found(options, kImage);
  found.draw_from(kKey, {.step = static_cast<std::uint32_t>(step), .purpose = random::Purpose::augmentation});
  return found;
}

Tensor images(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count * 196));
  random::fill_normals(kKey, {.step = 1}, 0, values);
  return torch::tensor(values, torch::kFloat64).view({count, 196});
}

std::vector<std::int64_t> ids(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The copy of one image [14, 14], pixel by pixel.
Tensor moved(const Tensor& image, std::int64_t down, std::int64_t right, bool flipped, bool zero) {
  const auto inside = [](std::int64_t at) { return at < 0 ? -at : at > 13 ? 26 - at : at; };
  auto copy = torch::zeros({14, 14}, image.options());
  for (std::int64_t y = 0; y < 14; ++y) {
    for (std::int64_t x = 0; x < 14; ++x) {
      const auto row = y + down;
      const auto column = (flipped ? 13 - x : x) + right;
      if (zero && (row < 0 || row > 13 || column < 0 || column > 13)) continue;
      copy[y][x] = image[inside(row)][inside(column)];
    }
  }
  return copy;
}

TEST(Augmentation, EachCopyIsOneOfThePossibleOnes) {
  for (const auto padding : {trial::Padding::reflect, trial::Padding::zero}) {
    for (const bool flip : {true, false}) {
      const bool zero = padding == trial::Padding::zero;
      const auto source = images(3);
      const auto copies =
          augmentation({.copies = 5, .flip = flip, .shift = 1, .padding = padding})(source, ids(3));
      ASSERT_EQ(copies.sizes(), (std::vector<std::int64_t>{15, 196}));
      for (std::int64_t k = 0; k < 15; ++k) {
        int matches = 0;
        for (std::int64_t which = 0; which < (flip ? 18 : 9); ++which) {
          const auto expected =
              moved(source[k % 3].view({14, 14}), which % 9 / 3 - 1, which % 3 - 1, which >= 9, zero);
          matches += at::equal(copies[k].view({14, 14}), expected) ? 1 : 0;
        }
        EXPECT_EQ(matches, 1) << "copy " << k;
      }
    }
  }
}

// Words of the test's choosing, at the borders of each shift, on images that are not square and
// have several channels: down and right are not exchanged, and channels not mixed.
TEST(Augmentation, AWordSaysMirrorAndShiftsUpToTheirBorders) {
  constexpr std::int64_t kShift = 1, kRows = 3, kColumns = 5;
  const auto source = torch::arange(2 * kRows * kColumns, torch::kFloat64).view({1, 2, kRows, kColumns});
  // floor(piece 3 / 2^24) - 1: the last piece of each shift, and the first of the next
  const std::map<std::uint64_t, std::int64_t> shifts = {{0, -1},       {5592405, -1}, {5592406, 0},
                                                        {11184810, 0}, {11184811, 1}, {0xffffff, 1}};
  for (const auto& [down_piece, down] : shifts) {
    for (const auto& [right_piece, right] : shifts) {
      for (const std::uint64_t flip : {0, 1}) {
        const std::vector<std::uint64_t> words{flip | down_piece << 8 | right_piece << 32 | 0xfeULL};
        const auto copy = datasets::moved_copies(
            source, words, {.copies = 1, .flip = true, .shift = kShift, .padding = trial::Padding::zero},
            {2, kRows, kColumns});
        for (std::int64_t c = 0; c < 2; ++c) {
          for (std::int64_t y = 0; y < kRows; ++y) {
            for (std::int64_t x = 0; x < kColumns; ++x) {
              const auto row = y + down, column = (flip != 0 ? kColumns - 1 - x : x) + right;
              const bool is_inside = row >= 0 && row < kRows && column >= 0 && column < kColumns;
              ASSERT_EQ(copy[0][c][y][x].item<double>(),
                        is_inside ? source[0][c][row][column].item<double>() : 0)
                  << down << ", " << right << ", " << flip;
            }
          }
        }
      }
    }
  }
}

TEST(Augmentation, WithoutAShiftOrAMirrorIsTheImage) {
  const auto source = images(2);
  const auto copies = augmentation({.copies = 3, .flip = false, .shift = 0})(source, ids(2));
  EXPECT_TRUE(at::equal(copies, source.repeat({3, 1})));
}

// 4000 copies: each of the 9 shifts within 5 standard deviations of its share, mirrors too; false
// failures below 1e-5.
TEST(Augmentation, ShiftsAndMirrorsAreUniform) {
  auto marker = torch::zeros({1, 196}, torch::kFloat64);
  marker[0][7 * 14 + 5] = 1;
  const auto copies = augmentation({.copies = 4000, .flip = true, .shift = 1})(marker, ids(1));
  std::map<std::int64_t, int> seen;
  for (std::int64_t k = 0; k < 4000; ++k) ++seen[copies[k].argmax().item<std::int64_t>()];
  EXPECT_EQ(seen.size(), 18u);
  const double expected = 4000.0 / 18;
  for (const auto& [place, count] : seen) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << place;
}

TEST(Augmentation, DependsOnRowCopyAndStepAlone) {
  const auto source = images(6);
  const trial::Augmentations options{.copies = 2};
  const auto all = augmentation(options)(source, ids(6)).view({2, 6, 196});
  const std::vector<std::int64_t> some{4, 1};
  const auto part =
      augmentation(options)(source.index_select(0, torch::tensor(some)), some).view({2, 2, 196});
  EXPECT_TRUE(at::equal(part.select(1, 0), all.select(1, 4)));
  EXPECT_TRUE(at::equal(part.select(1, 1), all.select(1, 1)));
  EXPECT_FALSE(at::equal(all, augmentation(options, 1)(source, ids(6)).view({2, 6, 196})));
}

datasets::SplitData plain_split() {
  return {.features = images(12), .labels = torch::arange(12, torch::kInt64).remainder(3)};
}

struct Bench {
  explicit Bench(torch::ScalarType dtype, std::int64_t microbatch, const Augmentation* augmentation,
                 const datasets::SplitData& split = plain_split())
      : network(models::make_model(
                    "cnn", model_named("cnn", {{"filters", json::array{2, 3}}, {"hidden", 4}}).options,
                    {.features = 196, .classes = 3}, kKey, dtype)
                    .value()),
        reader(split, dtype, microbatch) {
    // The last layer starts at zero, which would stop the gradient there.
    at::manual_seed(5);
    network.parameters().add_(at::randn({network.dimension()}, torch::kFloat64) * 0.1);
    reader.augment(augmentation);
    sum = torch::zeros({network.dimension()}, dtype);
  }
  Tensor run(const RoundedClipping& rule, const Rows& rows) {
    return clipped_gradient_sum(network, models::Loss::cross_entropy, rule, reader, rows, sum);
  }

  models::Network network;
  BatchReader reader;
  Tensor sum;
};

const Rows kRows{.count = 5, .all = false, .indices = {0, 3, 4, 7, 11}};

// Against one pass for each copy of each sample. The lowest threshold clips every sample, the
// highest none: there a sum over copies in place of their mean would show.
void expect_clipped_means(double threshold) {
  const auto augment = augmentation({.copies = 3, .shift = 2});
  Bench bench(torch::kFloat64, 2048, &augment);
  const auto losses = bench.run({trial::ClippingRule::abadi, threshold}, kRows);

  const auto source = images(12);
  auto expected = torch::zeros_like(bench.sum);
  auto expected_losses = torch::zeros({5}, torch::kFloat64);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto row = kRows.indices[i];
    auto gradient = torch::zeros_like(bench.sum);
    const auto copies = augment(source.narrow(0, row, 1), std::vector{row});
    for (std::int64_t m = 0; m < 3; ++m) {
      const auto logits = bench.network.record(copies.narrow(0, m, 1));
      const auto result =
          models::sample_losses(models::Loss::cross_entropy, logits, torch::tensor({row % 3}), true);
      bench.network.backward(result.logit_gradient / 3.0);
      bench.network.add_clipped_sum({}, gradient);
      expected_losses[static_cast<std::int64_t>(i)] += result.losses[0] / 3.0;
    }
    expected += gradient * std::min(1.0, threshold / gradient.norm().item<double>());
  }
  EXPECT_TRUE(near_relative(losses, expected_losses, 1e-12));
  EXPECT_TRUE(near_relative(bench.sum, expected, 1e-10)) << threshold;
  // A probe at the same weights sees the same function.
  EXPECT_TRUE(near_relative(
      losses_at_weights(bench.network, models::Loss::cross_entropy, bench.reader, kRows), losses, 1e-12));
}

TEST(AugmentedSum, IsTheSumOfClippedMeansOverCopies) {
  for (const double threshold : {0.05, 1.0, 1e6}) expect_clipped_means(threshold);
}

TEST(AugmentedSum, DoesNotDependOnTheMicrobatches) {
  const auto augment = augmentation({.copies = 4});
  for (const auto& rows : {kRows, Rows{.count = 12, .all = true, .indices = {}}}) {
    Bench whole(torch::kFloat32, 2048, &augment);
    const auto losses = whole.run({}, rows);
    for (const std::int64_t size : {1, 4, 9, 16}) {
      Bench pieces(torch::kFloat32, size, &augment);
      EXPECT_TRUE(near_relative(pieces.run({}, rows), losses, 1e-6));
      EXPECT_TRUE(near_relative(pieces.sum, whole.sum, 1e-6)) << size;
    }
  }
}

TEST(AugmentedSum, OneSampleIsWithinTheSensitivity) {
  const auto augment = augmentation({.copies = 8});
  Bench bench(torch::kFloat64, 2048, &augment);
  for (std::int64_t row = 0; row < 12; ++row) {
    bench.run({trial::ClippingRule::abadi, 1e-3}, {.count = 1, .all = false, .indices = {row}});
    EXPECT_NEAR(bench.sum.norm().item<double>(), 1e-3, 1e-12);
  }
}

// A split brings its copies with it where they are features of a frozen network.
TEST(AugmentedSum, OfASplitsOwnCopiesIsThatOfCopiesMadeOnTheWay) {
  const auto augment = augmentation({.copies = 3, .shift = 2});
  auto split = plain_split();
  split.features = augment(split.features, ids(12)).view({3, 12, 196}).transpose(0, 1).reshape({12, 3 * 196});
  split.copies = 3;
  for (const auto& rows : {kRows, Rows{.count = 12, .all = true, .indices = {}}}) {
    for (const double threshold : {0.05, 1e6}) {
      Bench made(torch::kFloat64, 2048, &augment);
      const auto losses = made.run({trial::ClippingRule::abadi, threshold}, rows);
      for (const std::int64_t size : {1, 7, 2048}) {
        Bench brought(torch::kFloat64, size, nullptr, split);
        EXPECT_TRUE(near_relative(brought.run({trial::ClippingRule::abadi, threshold}, rows), losses, 1e-12));
        EXPECT_TRUE(near_relative(brought.sum, made.sum, 1e-12)) << size << ", " << threshold;
      }
    }
  }
}

TEST(AugmentedSum, NeedsImages) {
  const TemporaryFolder folder;
  auto config = small_config(3);
  config.training = trial::TrainingOptions::from_json({{"augmentations", 2}}, "test").value();
  const auto end = run_once(config, folder.file("journal"));
  EXPECT_EQ(end.finish.kind, "invalid-config");
  EXPECT_NE(end.finish.message.find("has no images"), std::string::npos) << end.finish.message;
}

}  // namespace augmentation_test
}  // namespace hyfreedp::training
