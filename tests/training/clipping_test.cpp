// Every clipping rule: its formula, its sensitivity under gradients made to break it, and that
// batches may be cut up.
#include "harness/training/clipping.h"

#include <cmath>
#include <gtest/gtest.h>

#include "harness/models/model.h"
#include "harness/training/gradient.h"
#include "tests/models/compare.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace clipping_test {

using models::near_relative;
using torch::Tensor;
using trial::ClippingGroups;
using trial::ClippingRule;
using trial::GroupShares;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const random::Key kKey = random::key_from_seed("tests of clipping");

std::vector<RoundedClipping> every_rule() {
  std::vector<RoundedClipping> rules;
  for (const auto& [clipping, constant] :
       {std::pair{ClippingRule::auto_s, 0.01}, std::pair{ClippingRule::auto_v, 0.0},
        std::pair{ClippingRule::abadi, 0.3}, std::pair{ClippingRule::adaptive, 0.2}}) {
    rules.push_back({{clipping, constant}});
    if (clipping == ClippingRule::adaptive) continue;
    for (const auto shares : {GroupShares::uniform, GroupShares::size}) {
      rules.push_back({{clipping, constant, ClippingGroups::per_layer, shares}});
    }
  }
  return rules;
}

std::string described(const RoundedClipping& rule) {
  return std::to_string(static_cast<int>(rule.rule)) + " groups " +
         std::to_string(static_cast<int>(rule.groups)) + " shares " +
         std::to_string(static_cast<int>(rule.shares));
}

struct Bench {
  explicit Bench(torch::ScalarType type, std::int64_t microbatch = 2048, const std::string& model = "mlp")
      : dtype(type),
        dataset(data_of(small_config())),
        network(make(model, type)),
        reader(dataset.private_train, type, microbatch),
        sum(torch::zeros({network.dimension()}, type)) {}

  static models::Network make(const std::string& model, torch::ScalarType type) {
    const json::object options =
        model == "mlp" ? json::object{{"hidden", json::array{6, 5}}, {"last_layer", "he"}} : json::object{};
    return models::make_model(model, model_named(model, options).options, {.features = 8, .classes = 3}, kKey,
                              type)
        .value();
  }
  void put(std::int64_t row, const Tensor& features) {
    dataset.private_train.features[row].copy_(features);
    reader = BatchReader(dataset.private_train, dtype, 2048);
  }
  const Tensor& run(const RoundedClipping& rule, const Rows& rows) {
    clipped_gradient_sum(network, models::Loss::cross_entropy, rule, reader, rows, sum);
    return sum;
  }
  // [n, d]: each row's gradient by itself, unclipped.
  Tensor each(const Rows& rows) {
    std::vector<Tensor> gradients;
    for (const auto row : rows.indices) {
      gradients.push_back(run({{ClippingRule::none}}, {.count = 1, .all = false, .indices = {row}}).clone());
    }
    return at::stack(gradients);
  }

  torch::ScalarType dtype;
  datasets::Dataset dataset;
  models::Network network;
  BatchReader reader;
  Tensor sum;
};

Rows first_rows(std::int64_t count) {
  Rows rows{.count = count, .all = false, .indices = {}};
  for (std::int64_t row = 0; row < count; ++row) rows.indices.push_back(row);
  return rows;
}

// However long a gradient is, factor times length stays below the bound by what is left to
// rounding; short ones keep their factor.
TEST(Clipping, FactorsLeaveTheirPartToRounding) {
  const auto norms = torch::tensor({1e-9, 0.3, 1.0, 9.0, 11.0, 1e3, 1e9}, torch::kFloat64);
  for (const auto& [clipping, constant] :
       {std::pair{ClippingRule::auto_s, 0.01}, std::pair{ClippingRule::auto_v, 0.0},
        std::pair{ClippingRule::abadi, 0.3}, std::pair{ClippingRule::adaptive, 0.2}}) {
    const double bound = clipping == ClippingRule::abadi || clipping == ClippingRule::adaptive ? constant : 1;
    RoundedClipping rule{{.rule = clipping, .constant = constant}, 1e-3};
    const auto kept = clip_factors(rule, norms.square());
    const auto by_layer = clip_factors_by_layer(rule, {0.6, 0.8}, at::stack({norms, norms}).square());
    rule.rounding = 0;
    const auto plain = clip_factors(rule, norms.square());
    EXPECT_LE((kept * norms).max().item<double>(), bound * (1 - 1e-3) * (1 + 1e-15));
    EXPECT_LE((by_layer[0] * norms).max().item<double>(), 0.6 * bound * (1 - 1e-3) * (1 + 1e-15));
    EXPECT_GT((plain * norms).max().item<double>(), bound * (1 - 1e-9));
    EXPECT_TRUE(at::allclose(kept, plain, 1.001e-3, 0));
    if (clipping != ClippingRule::auto_s) continue;
    EXPECT_TRUE(at::equal(kept.narrow(0, 0, 4), plain.narrow(0, 0, 4))) << "up to constant / rounding = 10";
    EXPECT_LT(kept[4].item<double>(), plain[4].item<double>());
  }
}

// The same sum, written out number by number.
Tensor double_loop(const Bench& bench, const RoundedClipping& rule, const Tensor& gradients) {
  const auto d = bench.network.dimension();
  const auto layers = bench.network.trainable_layers();
  std::vector<double> sum(static_cast<std::size_t>(d), 0.0);
  const auto g = gradients.accessor<double, 2>();
  for (std::int64_t i = 0; i < gradients.size(0); ++i) {
    std::int64_t begin = 0;
    for (std::size_t l = 0; l < (rule.per_layer() ? layers.size() : 1); ++l) {
      const auto size = rule.per_layer() ? layers[l].size : d;
      const double weight = !rule.per_layer() ? 1
                            : rule.shares == GroupShares::size
                                ? std::sqrt(static_cast<double>(size) / static_cast<double>(d))
                                : 1 / std::sqrt(static_cast<double>(layers.size()));
      double squared = 0;
      for (auto k = begin; k < begin + size; ++k) squared += g[i][k] * g[i][k];
      const double norm = std::sqrt(squared);
      double factor = 0;
      if (rule.rule == ClippingRule::auto_s) factor = weight / (norm + rule.constant);
      if (rule.rule == ClippingRule::auto_v) factor = norm > 0 ? weight / norm : 0;
      if (rule.rule == ClippingRule::abadi || rule.rule == ClippingRule::adaptive)
        factor = std::min(1.0, weight * rule.constant / norm);
      for (auto k = begin; k < begin + size; ++k) sum[static_cast<std::size_t>(k)] += factor * g[i][k];
      begin += size;
    }
  }
  return torch::tensor(sum, torch::kFloat64);
}

TEST(Clipping, SumsAreThoseOfADoubleLoop) {
  Bench bench(torch::kFloat64);
  const auto rows = first_rows(40);
  const auto gradients = bench.each(rows);
  for (const auto& rule : every_rule()) {
    EXPECT_TRUE(near_relative(bench.run(rule, rows), double_loop(bench, rule, gradients), 1e-12))
        << described(rule);
  }
}

// On a device factors come from tensor operations, on the CPU's float64 norms from a loop; float32
// norms here take the former.
TEST(Clipping, TensorOperationsGiveTheLoopsFactors) {
  const auto squared =
      torch::tensor({0.0, 1e-30, 1e-4, 0.25, 9.0, 1e12, kInfinity, std::nan("")}, torch::kFloat32);
  for (const auto& [clipping, constant] :
       {std::pair{ClippingRule::auto_s, 0.01}, std::pair{ClippingRule::auto_v, 0.0},
        std::pair{ClippingRule::abadi, 0.3}, std::pair{ClippingRule::abadi, kInfinity},
        std::pair{ClippingRule::adaptive, 0.2}}) {
    const RoundedClipping rule{{.rule = clipping, .constant = constant}, 1e-3};
    const auto loop = clip_factors(rule, squared.to(torch::kFloat64));
    const auto tensors = clip_factors(rule, squared);
    EXPECT_EQ(tensors.scalar_type(), torch::kFloat32);
    EXPECT_TRUE(at::allclose(tensors.to(torch::kFloat64), loop, 1e-6, 0)) << tensors << loop;
  }
}

TEST(Clipping, TheRuleIsThePlans) {
  trial::PrivacyPlan plan;
  plan.clipping = {ClippingRule::abadi, 0.7, ClippingGroups::per_layer, GroupShares::size};
  EXPECT_EQ(trial::Clipping(rounded_clipping(plan, torch::kFloat32)), plan.clipping);
}

TEST(Clipping, AnInfiniteThresholdLeavesThePlainSum) {
  Bench bench(torch::kFloat64);
  const auto plain = bench.run({{ClippingRule::none}}, first_rows(50)).clone();
  for (const auto groups : {ClippingGroups::all, ClippingGroups::per_layer}) {
    EXPECT_TRUE(
        near_relative(bench.run({{ClippingRule::abadi, kInfinity, groups}}, first_rows(50)), plain, 1e-12));
  }
}

TEST(Clipping, SharesOfLayersHaveSquaresThatAddUpToOne) {
  const Bench bench(torch::kFloat64);
  const auto layers = bench.network.trainable_layers();
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0].parameters, (std::vector<std::string>{"fc1.weight", "fc1.bias"}));
  EXPECT_EQ(layers[0].size, 6 * 8 + 6);
  for (const auto shares : {GroupShares::uniform, GroupShares::size}) {
    double squares = 0;
    for (const double share : threshold_shares(shares, layers)) squares += share * share;
    EXPECT_NEAR(squares, 1, 1e-15);
  }
}

// Records made to break a rule: from far below the smallest norm to overflow, one long entry among
// tiny ones, NaN and infinities. What one of them adds to a batch is what the sensitivity says, at
// most.
std::vector<Tensor> adversarial_records() {
  std::vector<Tensor> records;
  for (const double scale :
       {0.0, 1e-42, 1e-30, 1e-22, 1e-19, 1e-12, 1e-3, 1.0, 1e4, 1e12, 1e19, 1e25, 1e38}) {
    records.push_back(torch::full({8}, scale, torch::kFloat64));
    auto alternating = torch::full({8}, scale, torch::kFloat64);
    alternating.slice(0, 0, 8, 2).mul_(-1);
    records.push_back(alternating);
    auto mixed = torch::full({8}, scale * 1e-7, torch::kFloat64);
    mixed[3] = scale;
    records.push_back(mixed);
  }
  for (const double poison : {std::nan(""), kInfinity, -kInfinity}) {
    auto record = torch::ones({8}, torch::kFloat64);
    record[5] = poison;
    records.push_back(record);
  }
  return records;
}

TEST(Clipping, NoRecordMovesTheSumByMoreThanTheSensitivity) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const double rounding = dtype == torch::kFloat32 ? 2e-6 : 1e-12;
    for (const std::string model : {"linear", "mlp"}) {
      Bench bench(dtype, 2048, model);
      for (const auto& record : adversarial_records()) {
        bench.put(0, record);
        for (const auto& rule : every_rule()) {
          const double bound = rule.sensitivity() * (1 + rounding);
          const auto alone = bench.run(rule, first_rows(1)).to(torch::kFloat64);
          const double norm = alone.norm().item<double>();
          EXPECT_TRUE(norm <= bound) << norm << " " << described(rule) << " " << model << "\n" << record;
          const auto with = bench.run(rule, first_rows(9)).to(torch::kFloat64);
          auto others = first_rows(9);
          others.indices.erase(others.indices.begin());
          others.count = 8;
          const auto without = bench.run(rule, others).to(torch::kFloat64);
          const double moved = (with - without).norm().item<double>();
          // Eight other samples round too.
          EXPECT_TRUE(moved <= bound + 8 * rounding * rule.sensitivity())
              << moved << " " << described(rule) << " " << model << "\n"
              << record;
        }
      }
    }
  }
}

// A gradient that is long in every layer comes to the bound, so that the bound above is no empty
// one.
TEST(Clipping, LongGradientsReachTheSensitivity) {
  Bench bench(torch::kFloat64);
  for (auto rule : every_rule()) {
    rule.constant = rule.rule == ClippingRule::auto_s ? 1e-6 : 1e-4;
    const double norm = bench.run(rule, first_rows(1)).norm().item<double>();
    EXPECT_GT(norm, 0.99 * rule.sensitivity()) << described(rule);
  }
}

// A norm of exactly zero: every weight zero makes the gradient of the first layers zero.
TEST(Clipping, AZeroGradientStaysZero) {
  const auto zero = torch::zeros({2}, torch::kFloat64);
  EXPECT_TRUE(at::isfinite(clip_factors({{ClippingRule::auto_v}}, zero)).all().item<bool>());
  Bench bench(torch::kFloat32);
  bench.network.parameters().zero_();
  for (const auto& rule : every_rule()) {
    const auto& sum = bench.run(rule, first_rows(20));
    EXPECT_TRUE(at::isfinite(sum).all().item<bool>()) << described(rule);
    EXPECT_EQ(sum.narrow(0, 0, 6 * 8 + 6).abs().max().item<float>(), 0) << described(rule);
  }
}

// One pass, and the same samples in pieces; batches of nobody, of one, and of more than a
// microbatch.
TEST(Clipping, MicrobatchesGiveTheSameSum) {
  for (const auto dtype : {torch::kFloat64, torch::kFloat32}) {
    const double tolerance = dtype == torch::kFloat64 ? 1e-12 : 1e-6;
    Bench bench(dtype);
    const auto cut = [&](std::int64_t size) {
      bench.reader = BatchReader(bench.dataset.private_train, dtype, size);
    };
    for (const auto& rule : every_rule()) {
      for (const auto& rows : {first_rows(0), first_rows(1), first_rows(101)}) {
        cut(2048);
        const auto expected = bench.run(rule, rows).clone();
        for (const std::int64_t size : {1, 7, 64}) {
          cut(size);
          const auto once = bench.run(rule, rows).clone();
          EXPECT_TRUE(near_relative(once, expected, tolerance)) << described(rule) << " " << rows.count;
          EXPECT_TRUE(at::equal(bench.run(rule, rows), once)) << "the same partition, other bits";
        }
      }
    }
  }
}

TEST(Clipping, NormsAndClippedSamplesAreSeen) {
  Bench bench(torch::kFloat64, 7);
  const auto rows = first_rows(30);
  const auto norms = bench.each(rows).norm(2, 1);
  const auto seen_with = [&](const RoundedClipping& rule) {
    SampleClipping seen;
    clipped_gradient_sum(bench.network, models::Loss::cross_entropy, rule, bench.reader, rows, bench.sum,
                         &seen);
    EXPECT_TRUE(near_relative(seen.norms, norms, 1e-12)) << described(rule);
    return seen.clipped;
  };
  const double middle = norms.median().item<double>() * (1 + 1e-9);
  EXPECT_EQ(seen_with({{ClippingRule::abadi, middle}}).sum().item<std::int64_t>(), 15);
  EXPECT_EQ(seen_with({{ClippingRule::none}}).sum().item<std::int64_t>(), 0);
  EXPECT_EQ(seen_with({{ClippingRule::auto_s, 1e-300}}).sum().item<std::int64_t>(),
            (norms > 1).sum().item<std::int64_t>());
  EXPECT_EQ(seen_with({{ClippingRule::abadi, 1e-9, ClippingGroups::per_layer}}).sum().item<std::int64_t>(),
            30);
}

}  // namespace clipping_test
}  // namespace hyfreedp::training
