#include "harness/training/averaging.h"

#include <gtest/gtest.h>
#include <vector>

#include "harness/models/weights/weights.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace averaging_test {

trial::TrainingOptions options_of(const json::object& given) {
  return trial::TrainingOptions::from_json(given, "test").value();
}

torch::Tensor iterate(std::int64_t step) {
  return torch::tensor({std::sin(0.7 * static_cast<double>(step)), static_cast<double>(step * step)},
                       torch::kFloat64);
}

TEST(WeightAverage, MeanFollowsItsFormula) {
  WeightAverage average(options_of({{"average", "swa"}, {"average_from", 3}}));
  auto sum = torch::zeros({2}, torch::kFloat64);
  for (std::int64_t step = 0; step < 20; ++step) {
    average.observe(iterate(step), step);
    EXPECT_EQ(average.parameters().defined(), step >= 3);
    if (step < 3) continue;
    sum += iterate(step);
    EXPECT_TRUE(at::allclose(average.parameters(), sum / static_cast<double>(step - 2), 1e-13, 0));
  }
}

TEST(WeightAverage, ExponentialAverageWarmsUp) {
  WeightAverage average(options_of({{"average", "ema"}, {"average_decay", 0.6}}));
  torch::Tensor expected;
  for (std::int64_t step = 0; step < 30; ++step) {
    const auto weights = iterate(step);
    average.observe(weights, step);
    const double decay =
        std::min(0.6, (1.0 + static_cast<double>(step)) / (10.0 + static_cast<double>(step)));
    expected = step == 0 ? weights : decay * expected + (1 - decay) * weights;
    EXPECT_TRUE(at::allclose(average.parameters(), expected, 1e-13, 0)) << step;
  }
  average.reset();
  EXPECT_FALSE(average.parameters().defined());
}

TEST(WeightAverage, WithoutOneNothingIsKept) {
  WeightAverage average(options_of({}));
  average.observe(iterate(0), 0);
  EXPECT_FALSE(average.parameters().defined());
}

// The first weights averaged are those after step `average_from`: two steps from 0 differ from the
// last, one from 1 does not.
TEST(WeightAverage, BeginsWithTheStepItWasToldTo) {
  const auto loss_with = [&](const json::object& given) {
    auto config = small_config(2);
    config.training = options_of(given);
    return metric_of(journal_under_one_key(config), "test", "loss");
  };
  const double plain = loss_with({});
  EXPECT_NE(loss_with({{"average", "swa"}}), plain);
  EXPECT_EQ(loss_with({{"average", "swa"}, {"average_from", 1}}), plain);
}

// Releases are those of the run without an average; the evaluated model is another one.
TEST(WeightAverage, OnlyTheEvaluationChanges) {
  const auto journal_with = [&](const json::object& given) {
    auto config = small_config(15);
    config.training = options_of(given);
    config.evaluation.every = 5;
    return journal_under_one_key(config);
  };
  const auto plain = journal_with({});
  const auto averaged = journal_with({{"average", "swa"}});
  EXPECT_EQ(hashes_of(plain), hashes_of(averaged));
  EXPECT_NE(metric_of(plain, "test", "loss"), metric_of(averaged, "test", "loss"));
  // The average of one step's weights is these weights.
  const auto late = journal_with({{"average", "ema"}, {"average_from", 14}});
  EXPECT_EQ(metric_of(plain, "test", "loss"), metric_of(late, "test", "loss"));
}

// Weights by name, and the loss at the evaluation, of a run under one key.
std::pair<std::map<std::string, torch::Tensor>, double> end_of(std::int64_t steps,
                                                               const json::object& given) {
  const TemporaryFolder folder;
  auto config = small_config(steps);
  config.training = options_of(given);
  {
    auto journal = mechanism::JournalWriter::open(folder.file("journal"), config, fingerprint("cpu")).value();
    const auto dataset = data_of(config);
    EXPECT_TRUE(train({.config = config,
                       .dataset = dataset,
                       .key = random::key_from_seed("one key"),
                       .journal = *journal,
                       .weights_folder = folder.file("weights")}));
  }
  std::map<std::string, torch::Tensor> weights;
  for (const auto& [name, tensor] : models::read_weights(folder.file("weights")).value()) {
    weights[name] = tensor.to(torch::kFloat64).clone();
  }
  return {weights, metric_of(mechanism::read_journal(folder.file("journal")).value(), "test", "loss")};
}

double cross_entropy_by_hand(const std::map<std::string, torch::Tensor>& weights) {
  const auto data = data_of(small_config());
  const auto logits =
      data.test.features.to(torch::kFloat64).matmul(weights.at("fc.weight").t()) + weights.at("fc.bias");
  double total = 0;
  for (std::int64_t i = 0; i < logits.size(0); ++i) {
    const auto label = data.test.labels[i].item<std::int64_t>();
    total += (logits[i].exp().sum().log() - logits[i][label]).item<double>();
  }
  return total / static_cast<double>(logits.size(0));
}

// Recomputed from runs that end with the weights after each step.
TEST(WeightAverage, WhatIsKeptAndEvaluatedIsTheAverageOfEachStepsWeights) {
  constexpr std::int64_t kSteps = 5;
  std::vector<std::map<std::string, torch::Tensor>> after;
  for (std::int64_t step = 1; step <= kSteps; ++step) after.push_back(end_of(step, {}).first);
  const auto check = [&](const json::object& given, const std::vector<double>& shares) {
    const auto [kept, loss] = end_of(kSteps, given);
    std::map<std::string, torch::Tensor> expected;
    for (const auto& [name, tensor] : kept) {
      expected[name] = torch::zeros_like(tensor);
      for (std::size_t i = 0; i < shares.size(); ++i) expected[name] += shares[i] * after[i].at(name);
      EXPECT_TRUE(at::allclose(tensor, expected[name], 1e-5, 1e-7)) << canonical_json(given) << " " << name;
    }
    EXPECT_NEAR(loss, cross_entropy_by_hand(expected), 1e-5) << canonical_json(given);
  };
  check({}, {0, 0, 0, 0, 1});
  check({{"average", "swa"}}, {0.2, 0.2, 0.2, 0.2, 0.2});
  check({{"average", "swa"}, {"average_from", 2}}, {0, 0, 1 / 3.0, 1 / 3.0, 1 / 3.0});
  // d_1 = 2/11, d_2 = 3/12: what is after step 0 has 2/11 * 3/12.
  const double first = 2 / 11.0, second = 3 / 12.0;
  check({{"average", "ema"}, {"average_decay", 0.9}, {"average_from", 2}},
        {0, 0, first * second, (1 - first) * second, 1 - second});
}

TEST(WeightAverage, IsRefusedBesideTheOptimizersOwn) {
  const TemporaryFolder folder;
  auto config = small_config(3);
  config.optimizer = optimizer_named("dog", {{"average", true}});
  config.training = options_of({{"average", "ema"}});
  const auto end = run_once(config, folder.file("journal"));
  EXPECT_EQ(end.finish.kind, "invalid-config");
  EXPECT_NE(end.finish.message.find("average of its own"), std::string::npos) << end.finish.message;
}

TEST(Microbatch, OfTheConfigChangesNothingBeyondRounding) {
  const auto loss_with = [&](std::int64_t microbatch) {
    auto config = small_config(6);
    config.training.microbatch = microbatch;
    return metric_of(journal_under_one_key(config), "test", "loss");
  };
  const double usual = loss_with(0);
  for (const std::int64_t microbatch : {1, 7, 4096}) EXPECT_NEAR(loss_with(microbatch), usual, 1e-5 * usual);
}

}  // namespace averaging_test
}  // namespace hyfreedp::training
