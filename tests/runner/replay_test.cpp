// Replays against what can be worked out by hand: a toy pool whose runs are numbers.
#include "harness/runner/replay/replay.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>

#include "baselines/baseline.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace replay_test {

using ::testing::HasSubstr;

std::string spec_text(const std::string& epsilons, const std::string& rows,
                      const std::string& train = "steps: 6") {
  return "name: toy\ntitle: toy\nnoise_seed: s\npanels:\n  - id: small\n"
         "    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}\n"
         "    model: linear\n    seeds: [0]\n    delta: N^-1.1\n    epsilon: " +
         epsilons + "\n    train: {sample_rate: 0.1, optimizer: adamw, " + train + "}\n    rows:\n" + rows;
}

const std::string kPoolRows = "      - {id: pool, method: nondp-gs, options: {grid: [1e-3, 1e-2]}}\n";
const std::string kEpsilons = "[0.25, 0.5, 1, 2, 3]";

double rate_of(const trial::TrialConfig& config) { return double_or(config.controller.options, "lr", 0); }

// Test and validation accuracy of a run, by its learning rate and its seed's number.
using Values = std::function<std::pair<double, double>(double rate, int seed)>;

ReplayPool pool_of(World& world, const std::string& text, const Values& values, int seeds = 1) {
  ReplayPool pool;
  for (const auto& study : plan(world.read(text)).value()) {
    for (auto config : study.baseline->next(study.cell, {}).value()) {
      for (int seed = 0; seed < seeds; ++seed) {
        config.seed = seed;
        const auto [test, validation] = values(rate_of(config), seed);
        EXPECT_TRUE(pool.add(config, {.trial = config.id(), .test = test, .validation = validation}));
      }
    }
  }
  return pool;
}

// 30 % at the small rate, 80 % at the large one; scores too far apart for their noise to confuse
// them.
std::pair<double, double> two_rates(double rate, int) {
  return rate < 5e-3 ? std::pair(0.3, 0.2) : std::pair(0.8, 0.9);
}

Result<ReplayedRow> replay_one(World& world, const ReplayPool& pool, const std::string& text,
                               const ReplayOptions& options = {}) {
  auto rows = replay_spec(world.read(text), pool, options);
  if (!rows) return rows.error();
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

// Geometric with mean 4: all runs are at the small rate with probability
// p / 2 / (1 - (1 - p) / 2) = 0.2 at p = 1/4, so the mean is 0.2 * 30 + 0.8 * 80 = 70. Its standard
// error is 20 / sqrt(2000); five of them are allowed (6e-7).
TEST(Replay, PrivateSelectionIsWhatEnumerationGives) {
  World world;
  const auto pool = pool_of(world, spec_text(kEpsilons, kPoolRows), two_rates);
  const auto text = spec_text(
      "[3]", "      - {method: dp-hyper, options: {grid: [1e-3, 1e-2], runs: geometric, mean_runs: 4}}\n");
  const auto row = replay_one(world, pool, text, {.repeats = 2000});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_NEAR(row->mean, 70, 5 * 20 / std::sqrt(2000.0));
  EXPECT_NEAR(row->runs, 4, 5 * std::sqrt(12 / 2000.0));  // variance (1 - p) / p^2
  EXPECT_EQ(row->reported, 2000);
  EXPECT_EQ(row->percentile10, 30);
  EXPECT_EQ(row->percentile90, 80);
  EXPECT_LT(row->low, row->mean);
  EXPECT_GT(row->high, row->mean);
  EXPECT_EQ(row->label, "simulated (of: end-to-end DP)");
  // The price is the selection's that the method announces before anything runs.
  const auto studies = plan(world.read(text)).value();
  const auto selection = studies.front().baseline->selection(studies.front().cell).value();
  const auto price = accounting::report_epsilon({.events = trial::selection_by_split(selection)},
                                                studies.front().cell.delta);
  ASSERT_TRUE(row->epsilon);
  EXPECT_DOUBLE_EQ(*row->epsilon, price->epsilon);
  EXPECT_LE(*row->epsilon, 3);
}

// Poisson of mean 4 draws no run at all with probability exp(-4); five standard errors (6e-7).
TEST(Replay, CountsTheRepeatsThatReportNothing) {
  World world;
  const auto pool = pool_of(world, spec_text(kEpsilons, kPoolRows), two_rates);
  const auto row = replay_one(
      world, pool,
      spec_text("[3]", "      - {method: dp-hyper, options: {grid: [1e-2], runs: poisson, mean_runs: 4}}\n"),
      {.repeats = 2000});
  ASSERT_TRUE(row) << row.error().message;
  const double share = std::exp(-4.0);
  EXPECT_NEAR(static_cast<double>(row->failed.at("no-run-drawn")) / 2000, share,
              5 * std::sqrt(share * (1 - share) / 2000));
  EXPECT_EQ(row->reported + row->failed.at("no-run-drawn"), 2000);
  EXPECT_EQ(row->mean, 80);
}

TEST(Replay, AnOracleGridReportsItsBestExactly) {
  World world;
  const auto pool = pool_of(world, spec_text(kEpsilons, kPoolRows), two_rates);
  const auto row = replay_one(world, pool, spec_text("[2]", kPoolRows), {.repeats = 50});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->mean, 80);
  EXPECT_EQ(row->low, 80);
  EXPECT_EQ(row->high, 80);
  EXPECT_EQ(row->label, "simulated (of: oracle)");
  EXPECT_EQ(row->between_noises, 0);
  EXPECT_EQ(row->snapped, 0);
}

// Five seeds at 60, 70, ..., 100: their mean has a standard error of 15.81 / sqrt(5) = 7.07, so
// that its 95 % interval is about 80 -+ 13.9; twenty groups know that to 16 %
// (one standard deviation).
TEST(Replay, TheIntervalIsThatOfThePoolsSeeds) {
  World world;
  const auto by_seed = [](double, int seed) { return std::pair(0.6 + 0.1 * seed, 0.5); };
  const auto pool = pool_of(world, spec_text(kEpsilons, kPoolRows), by_seed, 5);
  const auto row =
      replay_one(world, pool, spec_text("[3]", "      - {method: fixed-rate, options: {lr: 1e-2}}\n"),
                 {.repeats = 4000});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_NEAR(row->mean, 80, 4);
  EXPECT_NEAR(row->high - row->low, 27.7, 4 * 0.16 * 27.7);
  EXPECT_NEAR(row->low + row->high, 2 * row->mean, 1e-9);
  EXPECT_EQ(row->percentile10, 60);
  EXPECT_EQ(row->percentile90, 100);
}

TEST(Replay, IsAFunctionOfPoolRowsAndSeed) {
  World world;
  const auto by_seed = [](double rate, int seed) { return std::pair(rate + 0.1 * seed, 0.5); };
  const auto pool = pool_of(world, spec_text(kEpsilons, kPoolRows), by_seed, 3);
  const auto text = spec_text("[3]", "      - {method: dp-hyper, options: {grid: [1e-3, 1e-2]}}\n");
  const auto mean = [&](std::int64_t seed) {
    return replay_one(world, pool, text, {.repeats = 60, .seed = seed})->mean;
  };
  EXPECT_EQ(mean(1), mean(1));
  EXPECT_NE(mean(1), mean(2));
}

// Validation counts 100 and 400 of 500: noise of 30 tells them apart always, noise of 3000 hardly
// ever. Then the pick is as good as drawn evenly, and the mean 55 instead of 70; four standard
// errors (6e-5) and a point for what is left.
TEST(Replay, ScoresHaveTheNoiseThatTheMethodAsksFor) {
  World world;
  const auto pool = pool_of(world, spec_text(kEpsilons, kPoolRows), [](double rate, int) {
    return rate < 5e-3 ? std::pair(0.3, 0.2) : std::pair(0.8, 0.8);
  });
  const auto mean = [&](const char* noise) {
    const auto text = spec_text("[3]", std::string("      - {method: dp-hyper, options: {grid: [1e-3, 1e-2], "
                                                   "mean_runs: 4, score_noise: ") +
                                           noise + "}}\n");
    return replay_one(world, pool, text, {.repeats = 2000})->mean;
  };
  EXPECT_NEAR(mean("30"), 70, 4 * 20 / std::sqrt(2000.0));
  EXPECT_NEAR(mean("3000"), 55, 4 * 25 / std::sqrt(2000.0) + 1);
}

TEST(Replay, SearchesOverSampledBatchesByTheLine) {
  World world;
  std::string grid;
  for (double rate = 0.008; rate < 4; rate *= 1.4) grid += (grid.empty() ? "" : ", ") + std::to_string(rate);
  const auto text = [&](const std::string& epsilons, const std::string& rows) {
    auto spec = spec_text(epsilons, rows, "steps: 6");
    return spec.replace(spec.find("optimizer: adamw"), 16, "optimizer: {name: sgd, momentum: 0.9}");
  };
  // Best at r = 1.2: a rate of 0.2 in six steps.
  const auto pool = pool_of(
      world,
      text("[0.2, 0.5, 1, 2, 3]", "      - {id: pool, method: nondp-gs, options: {grid: [" + grid + "]}}\n"),
      [](double rate, int) {
        const double accuracy = 0.9 - 0.05 * std::abs(std::log(rate / 0.2));
        return std::pair(accuracy, accuracy);
      });
  const auto row = replay_one(
      world, pool,
      text("[3]",
           "      - {method: linear-scaling, options: {batch: sampled, decompose: fixed-t, t_max: 6, "
           "t_min: 6, range: full}}\n"),
      {.repeats = 100});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_DOUBLE_EQ(row->runs, 7);
  EXPECT_EQ(row->reported, 100);
  EXPECT_GT(row->snapped, 0);
  EXPECT_LE(row->largest_rate_factor, 1.6);
  EXPECT_EQ(row->flags.size(), 2U);  // capped, floored
  EXPECT_NEAR(*row->epsilon, 3, 0.01);
}

TEST(Replay, RefusesWhatThePoolLacks) {
  World world;
  const auto pool = pool_of(world, spec_text(kEpsilons, kPoolRows), two_rates);
  const auto why = [&](const std::string& text) {
    const auto row = replay_one(world, pool, text, {.repeats = 3});
    return row ? std::string() : row.error().message;
  };
  const std::string fixed = "      - {method: fixed-rate, options: {lr: 1e-2}}\n";
  EXPECT_EQ(why(spec_text("[3]", fixed)), "");
  EXPECT_THAT(why(spec_text("[3]", fixed, "steps: 7")), HasSubstr("steps: 7, pooled 6"));
  EXPECT_THAT(why(spec_text("[3]", fixed, "steps: 7")),
              HasSubstr("row fixed-rate of panel small at epsilon 3"));
  EXPECT_THAT(why(spec_text("[3]", "      - {method: fixed-rate, options: {lr: 2e-2}}\n")),
              HasSubstr("no learning rate near 0.02"));
  EXPECT_THAT(why(spec_text("[9]", fixed)), HasSubstr("no noise near"));
  EXPECT_THAT(why(spec_text("[3]",
                            "      - {method: linear-scaling, options: {score: train-unpriced, batch: "
                            "sampled, decompose: fixed-t, t_max: 6, t_min: 6}}\n")),
              HasSubstr("optimizer.name"));
}

TEST(Replay, RefusesToInventAScore) {
  World world;
  ReplayPool pool;
  const auto text = spec_text("[3]", kPoolRows);
  const auto study = plan(world.read(text)).value().front();
  for (const auto& config : study.baseline->next(study.cell, {}).value()) {
    EXPECT_TRUE(pool.add(config, {.trial = config.id(), .test = 0.5}));
  }
  const auto row = replay_one(world, pool, text, {.repeats = 3});
  ASSERT_FALSE(row);
  EXPECT_THAT(row.error().message, HasSubstr("no un-noised validation accuracy"));
}

// Half-way in ln(noise), each neighbour has half of the draws.
TEST(ReplayPool, TakesOneOfTwoNoisesByTheirLogDistance) {
  World world;
  ReplayPool pool;
  const auto study = plan(world.read(spec_text("[3]", kPoolRows))).value().front();
  auto config = study.baseline->next(study.cell, {}).value().front();
  for (const double noise : {1.0, 2.0, 16.0}) {
    config.privacy.gradient_noise = noise;
    EXPECT_TRUE(pool.add(config, {.trial = config.id(), .test = noise}));
  }
  const auto value = [&](double noise, double uniform) {
    config.privacy.gradient_noise = noise;
    const auto match = pool.find(config, 1.3, uniform);
    return match ? match->cell->runs.front().test : -1;
  };
  EXPECT_EQ(value(std::sqrt(2.0), 0.49), 2);
  EXPECT_EQ(value(std::sqrt(2.0), 0.51), 1);
  EXPECT_EQ(value(2, 0.99), 2);
  EXPECT_EQ(value(0.97, 0), 1);  // within 5 % of the range
  EXPECT_EQ(value(0.9, 0), -1);  // beyond
  EXPECT_EQ(value(6, 0.5), -1);  // neighbours too far apart to stand for it
  EXPECT_FALSE(pool.add(config, {.trial = study.baseline->name}) &&
               pool.add(config, {.trial = study.baseline->name}))
      << "one run twice";
}

// A pool as a database has it: un-noised values are read, other specs' runs are not.
TEST(ReplayPool, ReadsASpecsRunsFromTheStore) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const trial::TrialConfig& config) {
    return rate_of(config) < 5e-3 ? Fate::diverge : Fate::finish;
  };
  world.run(spec_text("[1, 3]", kPoolRows), executor);
  const auto pool = ReplayPool::open(world.store(), "toy");
  ASSERT_TRUE(pool) << pool.error().message;
  EXPECT_EQ(pool->runs(), 4U);
  EXPECT_EQ(pool->cells(), 4U);
  EXPECT_EQ(pool->fewest_runs(), 1U);
  const auto row = replay_one(world, *pool, spec_text("[3]", kPoolRows), {.repeats = 5});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->reported, 5);  // the run that diverged is passed over
  EXPECT_FALSE(ReplayPool::open(world.store(), "other"));
}

}  // namespace replay_test
}  // namespace hyfreedp::runner
