// The training path with every registered model: results do not depend on how a batch was cut up,
// and without noise and clipping the private path is the plain one.
#include <gtest/gtest.h>

#include "harness/mechanism/batches.h"
#include "harness/training/evaluation.h"
#include "harness/training/gradient.h"
#include "harness/training/setup.h"
#include "tests/models/compare.h"
#include "tests/training/fixtures.h"

namespace hyfreedp::training {
namespace registered_models_test {

using models::near_relative;
using torch::Tensor;

// Weights at which no gradient vanishes: heads begin at zero.
void stir(models::Network& network) {
  at::manual_seed(5);
  network.parameters().add_(at::randn_like(network.parameters()) * 0.1);
}

struct Sample {
  explicit Sample(const models::Facts& facts, const std::string& dtype) : config(small_config(2)) {
    use_example(config, facts);
    config.dtype = dtype;
    dataset = data_of(config);
  }
  Setup setup() const {
    auto made = set_up(config, dataset);
    HYFREEDP_CHECK(made.has_value(), made.error().message);
    return std::move(*made);
  }

  trial::TrialConfig config;
  datasets::Dataset dataset;
};

datasets::SplitData aligned(const datasets::SplitData& split) {
  return {split.features, split.labels.dim() == 1 ? split.labels : models::next_tokens(split.labels)};
}

TEST(RegisteredModels, TheSumDoesNotDependOnTheMicrobatches) {
  const torch::NoGradGuard no_gradients;
  for (const auto& facts : models::model_facts()) {
    for (const auto* dtype : {"float64", "float32"}) {
      SCOPED_TRACE(facts.name + " " + dtype);
      const Sample run(facts, dtype);
      auto setup = run.setup();
      stir(setup.network);
      const auto rows = gradient_rows(run.config.privacy, random::key_from_seed("rows"), 0, 0);
      ASSERT_GT(rows.count, 40);
      Tensor one_shot;
      for (const std::int64_t microbatch : {1000, 7, 1}) {
        BatchReader reader(aligned(run.dataset.private_train), setup.options, microbatch);
        auto sum = torch::zeros_like(setup.network.parameters());
        clipped_gradient_sum(setup.network, setup.labels.loss, {trial::ClippingRule::auto_s, 0.01}, reader,
                             rows, sum);
        if (!one_shot.defined()) one_shot = sum;
        // Which kernel LibTorch takes depends on the processor and on the shapes: on some
        // ConvNeXt's float32 sums differ by 2.4e-6.
        EXPECT_TRUE(near_relative(sum, one_shot, dtype == std::string("float64") ? 1e-12 : 4e-6))
            << microbatch;
      }
    }
  }
}

TEST(RegisteredModels, AnInfiniteThresholdIsThePlainSum) {
  const torch::NoGradGuard no_gradients;
  for (const auto& facts : models::model_facts()) {
    SCOPED_TRACE(facts.name);
    const Sample run(facts, "float64");
    auto setup = run.setup();
    stir(setup.network);
    const auto rows = gradient_rows(run.config.privacy, random::key_from_seed("rows"), 0, 0);
    auto plain = torch::zeros_like(setup.network.parameters());
    auto unclipped = plain.clone();
    clipped_gradient_sum(setup.network, setup.labels.loss, {trial::ClippingRule::none, 0}, setup.train, rows,
                         plain);
    clipped_gradient_sum(setup.network, setup.labels.loss,
                         {trial::ClippingRule::abadi, std::numeric_limits<double>::infinity()}, setup.train,
                         rows, unclipped);
    EXPECT_TRUE(near_relative(unclipped, plain, 1e-12));
  }
}

TEST(RegisteredModels, SequencesAreEvaluatedByToken) {
  const torch::NoGradGuard no_gradients;
  const Sample run(*models::find_model("gpt2").value(), "float64");
  auto setup = run.setup();
  const auto result = evaluate(setup.network, setup.labels, setup.test);
  EXPECT_EQ(result.metrics().at(1).first, "perplexity");
  EXPECT_EQ(result.count, 50 * 5);          // six tokens, of which the first is not predicted
  EXPECT_NEAR(result.perplexity(), 12, 1);  // small random weights know nothing of twelve tokens
}

// Every scored token has the same weight, whichever sequence it is of.
TEST(RegisteredModels, PerplexityIsByToken) {
  const torch::NoGradGuard no_gradients;
  const Sample run(*models::find_model("gpt2").value(), "float64");
  auto setup = run.setup();
  stir(setup.network);
  auto split = aligned(run.dataset.test);
  split.labels = split.labels.clone();
  // One token is scored of half of them.
  split.labels.slice(0, 0, 25).slice(1, 1).fill_(models::kNotScored);
  BatchReader reader(split, setup.options, 7);
  const auto result = evaluate(setup.network, setup.labels, reader);
  double sum = 0;
  std::int64_t tokens = 0;
  reader.for_all([&](const Microbatch& batch) {
    const auto logits = setup.network.forward(batch.features).log_softmax(-1);
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
      for (std::int64_t t = 0; t < batch.labels.size(1); ++t) {
        const auto label = batch.labels[i][t].item<std::int64_t>();
        if (label == models::kNotScored) continue;
        sum -= logits[i][t][label].item<double>();
        ++tokens;
      }
    }
  });
  EXPECT_EQ(tokens, 25 + 25 * 5);
  EXPECT_NEAR(result.perplexity(), std::exp(sum / static_cast<double>(tokens)), 1e-9);
}

// Each sequence counts once, by the mean loss of its tokens.
TEST(RegisteredModels, SequencesAreScoredByTheirMeanLosses) {
  const torch::NoGradGuard no_gradients;
  const Sample run(*models::find_model("gpt2").value(), "float64");
  auto setup = run.setup();
  const double bound = 2.49;  // near the losses, so that some are clipped
  const auto result = evaluate(setup.network, setup.labels, setup.test, {.loss_bound = bound});
  EXPECT_EQ(result.records, 50);
  double sum = 0;
  int clipped = 0;
  setup.test.for_all([&](const Microbatch& batch) {
    const auto logits = setup.network.forward(batch.features).log_softmax(-1);
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
      double loss = 0;
      for (std::int64_t t = 0; t < 5; ++t)
        loss -= logits[i][t][batch.labels[i][t].item<std::int64_t>()].item<double>() / 5;
      clipped += loss > bound;
      sum += 1 - std::min(loss, bound) / bound;
    }
  });
  EXPECT_GT(clipped, 0);
  EXPECT_LT(clipped, 50);
  EXPECT_NEAR(result.score_sum, sum, 50 * std::pow(2, -20));
}

TEST(RegisteredModels, APrivateAccuracyOfSequencesIsRefused) {
  Sample run(*models::find_model("gpt2").value(), "float32");
  run.config.evaluation.score = trial::ScoreRelease{10};
  const auto setup = set_up(run.config, run.dataset);
  ASSERT_FALSE(setup);
  EXPECT_EQ(setup.error().kind, "invalid-config");
  EXPECT_NE(setup.error().message.find("sequences"), std::string::npos) << setup.error().message;
  run.config.evaluation.score = trial::ScoreRelease{10, 2.5};
  EXPECT_TRUE(set_up(run.config, run.dataset));
}

}  // namespace registered_models_test
}  // namespace hyfreedp::training
