// Images kept as bytes reach the network as the same numbers that a table of floats would give it.
#include "harness/training/batch_reader.h"

#include <gtest/gtest.h>
#include <numeric>

#include "datasets/labels.h"
#include "harness/training/whole_split.h"

namespace hyfreedp::training {
namespace batch_reader_test {

constexpr std::int64_t kRows = 23;
constexpr std::int64_t kColumns = 3 * 4;

datasets::SplitData bytes() {
  return {.features = at::arange(kRows * kColumns).remainder(251).to(at::kByte).view({kRows, kColumns}),
          .labels = at::arange(kRows, at::kLong),
          .scale = datasets::PixelScale{.mean = {0.5, 0.25, 0.125}, .deviation = {0.5, 0.75, 2}}};
}

datasets::SplitData floats() {
  const auto split = bytes();
  return {.features = split.values(0, kRows, at::kFloat), .labels = split.labels};
}

// Features and labels of `rows`, one microbatch after the other.
std::pair<at::Tensor, at::Tensor> read(BatchReader& reader, const mechanism::Rows& rows) {
  std::vector<at::Tensor> features;
  std::vector<at::Tensor> labels;
  reader.for_each(rows, [&](const Microbatch& batch) {
    EXPECT_LE(batch.features.size(0), 5);
    features.push_back(batch.features.clone());
    labels.push_back(batch.labels.clone());
  });
  return {at::cat(features), at::cat(labels)};
}

void expect_equal_batches(BatchReader& one, BatchReader& other) {
  const std::vector<std::int64_t> some = {0, 3, 4, 9, 10, 11, 22};
  for (const auto& rows : {mechanism::Rows{.count = kRows, .all = true, .indices = {}},
                           mechanism::Rows{.count = 7, .all = false, .indices = some}}) {
    const auto [x, y] = read(one, rows);
    const auto [u, v] = read(other, rows);
    EXPECT_EQ(x.scalar_type(), at::kFloat);
    EXPECT_TRUE(at::equal(x, u));
    EXPECT_TRUE(at::equal(y, v));
  }
}

TEST(BatchReaderOfBytes, GivesTheNumbersThatTheyStandFor) {
  BatchReader of_bytes(bytes(), torch::kFloat32, 5);
  BatchReader of_floats(floats(), torch::kFloat32, 5);
  expect_equal_batches(of_bytes, of_floats);
  // Byte 13 is the second row's second value, of the first channel.
  const auto [x, y] = read(of_bytes, {.count = kRows, .all = true, .indices = {}});
  EXPECT_FLOAT_EQ(x[1][1].item<float>(), (13.0F / 255 - 0.5F) / 0.5F);
  EXPECT_FLOAT_EQ(x[1][11].item<float>(), (23.0F / 255 - 0.125F) / 2);
}

TEST(BatchReaderOfBytes, CentresThem) {
  BatchReader of_bytes(bytes(), torch::kFloat32, 5);
  BatchReader of_floats(floats(), torch::kFloat32, 5);
  for (const double scale : {1.0, -2.0}) {  // a second mean replaces the first
    const auto mean = at::linspace(0, scale, kColumns, at::kDouble);
    of_bytes.centre(mean);
    of_floats.centre(mean);
    expect_equal_batches(of_bytes, of_floats);
  }
}

TEST(BatchReaderOfBytes, TheirMeanIsOfTheNumbers) {
  trial::PrivacyPlan plan;
  plan.asked.feature_mean = trial::FeatureMean{};
  plan.asked.feature_mean->norm = 1.5;
  const datasets::Sizes sizes{.private_train = kRows, .features = kColumns};
  const auto of_bytes = whole_split_sum(trial::FeatureMean::kPurpose, plan, sizes, bytes());
  const auto of_floats = whole_split_sum(trial::FeatureMean::kPurpose, plan, sizes, floats());
  EXPECT_TRUE(at::allclose(of_bytes, of_floats, 1e-6, 1e-6));
  EXPECT_GT(of_bytes.norm().item<double>(), 1.0);
}

// Row i has 4 i + 1 tokens and the label i.
datasets::SplitData ragged() {
  auto ids = at::zeros({6, 30}, at::kLong);
  for (std::int64_t i = 0; i < 6; ++i) ids[i].narrow(0, 0, 4 * i + 1).fill_(i + 1);
  return {.features = ids, .labels = at::arange(6, at::kLong), .padding = 0};
}

// In the order of their lengths, as long as the longest of a microbatch up to a multiple of eight,
// each with its label.
TEST(BatchReaderOfSequences, LeavesOutWhatIsPaddingInAll) {
  BatchReader reader(ragged(), torch::kFloat32, 2);
  const mechanism::Rows some{.count = 5, .indices = {4, 0, 5, 3, 1}};
  const mechanism::Rows all{.count = 6, .all = true, .indices = {}};
  for (const auto& [rows, labels, widths] :
       {std::tuple{some, std::vector<std::int64_t>{0, 1, 3, 4, 5}, std::vector<std::int64_t>{8, 24, 24}},
        std::tuple{all, std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}, std::vector<std::int64_t>{8, 16, 24}}}) {
    std::vector<std::int64_t> found, wide;
    reader.for_each(rows, [&](const Microbatch& batch) {
      wide.push_back(batch.features.size(1));
      for (std::int64_t i = 0; i < batch.labels.size(0); ++i) {
        const auto label = batch.labels[i].item<std::int64_t>();
        found.push_back(label);
        EXPECT_EQ((batch.features[i] == label + 1).sum().item<std::int64_t>(), 4 * label + 1);
      }
    });
    EXPECT_EQ(found, labels);
    EXPECT_EQ(wide, widths);
  }
}

// A language model reads no further than the last token that it predicts.
TEST(BatchReaderOfSequences, LeavesOutWhatNoTextPredicts) {
  auto texts = ragged();
  texts.padding.reset();
  texts.labels = at::where(texts.features > 0, texts.features, datasets::kNotScored);
  texts.labels[5].narrow(0, 0, 20).fill_(datasets::kNotScored);  // a prompt
  texts.labels[3].narrow(0, 5, 25).fill_(datasets::kNotScored);  // words that nothing predicts
  BatchReader reader(texts, torch::kFloat32, 2);
  std::vector<std::int64_t> predicted, wide;
  reader.for_all([&](const Microbatch& batch) {
    wide.push_back(batch.features.size(1));
    EXPECT_TRUE(batch.labels.is_same_size(batch.features));
    for (std::int64_t i = 0; i < batch.labels.size(0); ++i) {
      const auto scored = batch.labels[i] != datasets::kNotScored;
      EXPECT_TRUE(at::equal(batch.labels[i].masked_select(scored), batch.features[i].masked_select(scored)));
      predicted.push_back(scored.sum().item<std::int64_t>());
    }
  });
  EXPECT_EQ(predicted, (std::vector<std::int64_t>{1, 5, 5, 9, 17, 1}));
  EXPECT_EQ(wide, (std::vector<std::int64_t>{8, 16, 24}));
}

// So that a full batch is not copied.
TEST(BatchReaderOfSequences, OfOneLengthAreViews) {
  auto texts = ragged();
  texts.features.fill_(3);
  BatchReader reader(texts, torch::kFloat32, 4);
  reader.for_all([&](const Microbatch& batch) {
    EXPECT_TRUE(batch.features.is_alias_of(texts.features));
    EXPECT_EQ(batch.features.size(1), 30);
  });
}

}  // namespace batch_reader_test
}  // namespace hyfreedp::training
