// Single tests on faults that the planted bugs do not bring out: each must refute, and the honest
// mechanism must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/audit/simulated.h"

namespace hyfreedp::audit {
namespace single_tests_test {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> refuted(const Observations& seen) {
  return refuted_names(judge(seen, {100, 1e-3, "x"}, 1e-4).value());
}

// Honest residuals of 4 runs x 40 steps x 64 coordinates, probes every 2 steps.
Observations honest(const std::string& seed, std::int64_t steps = 40) {
  auto seen = observe({.steps = steps, .interval = 2, .dimension = 64, .canaries = 0, .seed = seed});
  seen.runs.clear();
  seen.samplers.clear();
  return seen;
}

StepResiduals& at(Observations& seen, std::int64_t run, std::int64_t step) {
  return *std::find_if(seen.residuals.begin(), seen.residuals.end(),
                       [&](const auto& one) { return one.run == run && one.step == step; });
}

template <class Change>
void change_all(Observations& seen, Change change) {
  for (auto& one : seen.residuals) {
    for (float& value : one.gradient) value = static_cast<float>(change(static_cast<double>(value)));
    for (double& value : one.losses) value = change(value);
  }
}

double cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(SingleTests, HonestResidualsPass) {
  for (const char* seed : {"a", "b", "c", "d"}) EXPECT_THAT(refuted(honest(seed)), IsEmpty());
}

// Mean 0 and variance 1, but not normal.
TEST(SingleTests, ShapeRefutesOtherLawsOfTheSameScale) {
  auto uniform = honest("uniform");
  change_all(uniform, [](double z) { return std::sqrt(12.0) * (cdf(z) - 0.5); });
  EXPECT_THAT(refuted(uniform), Contains("noise shape"));

  auto laplace = honest("laplace");
  change_all(laplace,
             [](double z) { return (z > 0 ? -1 : 1) * std::log(2 * cdf(-std::abs(z))) / std::sqrt(2.0); });
  EXPECT_THAT(refuted(laplace), Contains("noise shape"));
}

TEST(SingleTests, ShapeRefutesCutTails) {
  auto cut = honest("cut");
  change_all(cut, [](double z) { return std::clamp(z, -2.9, 2.9); });
  EXPECT_THAT(refuted(cut), Contains("noise shape"));
}

// Only the middle is wrong; as many as expected lie beyond 3, 4 and 5.
TEST(SingleTests, ShapeRefutesAHollowMiddle) {
  auto hollow = honest("hollow");
  change_all(hollow, [](double z) { return std::abs(z) < 0.2 ? std::copysign(0.2, z) : z; });
  EXPECT_THAT(refuted(hollow), ::testing::ElementsAre("noise shape"));
}

TEST(SingleTests, MeanRefutesOneShiftedCoordinate) {
  auto seen = honest("shifted");
  for (auto& one : seen.residuals) one.gradient[17] += 0.6F;
  EXPECT_THAT(refuted(seen), Contains("noise mean"));
}

TEST(SingleTests, MeanRefutesNoiseThatCancelsOverTheRun) {
  auto seen = honest("cancels");
  for (std::int64_t run = 0; run < 4; ++run) {
    for (std::int64_t step = 1; step < 40; step += 2) {
      for (std::size_t j = 0; j < 64; ++j) {
        at(seen, run, step).gradient[j] = -at(seen, run, step - 1).gradient[j];
      }
    }
  }
  EXPECT_THAT(refuted(seen), Contains("noise mean"));
  EXPECT_THAT(refuted(seen), Contains("independence across steps"));
}

// Each step keeps a fifth of the last one's noise: no single pair shows it.
TEST(SingleTests, StepsRefuteWeakSerialCorrelation) {
  auto seen = honest("serial");
  for (std::int64_t run = 0; run < 4; ++run) {
    for (std::int64_t step = 1; step < 40; ++step) {
      for (std::size_t j = 0; j < 64; ++j) {
        float& now = at(seen, run, step).gradient[j];
        now = std::sqrt(0.96F) * now + 0.2F * at(seen, run, step - 1).gradient[j];
      }
    }
  }
  EXPECT_THAT(refuted(seen), ::testing::ElementsAre("independence across steps"));
}

TEST(SingleTests, RunsRefuteOneNegatedRepeat) {
  auto seen = honest("negated");
  for (std::size_t j = 0; j < 64; ++j) at(seen, 3, 31).gradient[j] = -at(seen, 1, 4).gradient[j];
  const auto report = judge(seen, {100, 1e-3, "x"}, 1e-4).value();
  EXPECT_THAT(refuted_names(report), ::testing::ElementsAre("independence across runs"));
  const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                  [](const Finding& finding) { return finding.refuted; });
  EXPECT_THAT(found->text, HasSubstr("run 1, step 4 with run 3, step 31"));
}

// Two coordinates that no shift relates to others.
TEST(SingleTests, CoordinatesRefuteOneRepeatedCoordinate) {
  auto seen = honest("coordinate");
  for (auto& one : seen.residuals) one.gradient[50] = one.gradient[3];
  EXPECT_THAT(refuted(seen), Contains("independence across coordinates"));
}

// Each coordinate keeps a fifth of the last one: no single pair shows it.
TEST(SingleTests, CoordinatesRefuteWeakCorrelationOfNeighbours) {
  auto seen = honest("neighbours");
  for (auto& one : seen.residuals) {
    for (std::size_t j = 1; j < one.gradient.size(); ++j) {
      one.gradient[j] = std::sqrt(0.96F) * one.gradient[j] + 0.2F * one.gradient[j - 1];
    }
  }
  EXPECT_THAT(refuted(seen), Contains("independence across coordinates"));
}

TEST(SingleTests, LossesRefuteOneNoiseForAllPointsOfAProbe) {
  auto seen = honest("points");
  for (auto& one : seen.residuals) {
    if (!one.losses.empty()) one.losses = {one.losses[0], one.losses[0], one.losses[0]};
  }
  EXPECT_THAT(refuted(seen), Contains("independence of the losses"));
}

TEST(SingleTests, LossesRefuteTheLastProbesNoiseAgain) {
  auto seen = honest("again", 100);
  for (std::int64_t run = 0; run < 4; ++run) {
    for (std::int64_t step = 2; step < 100; step += 4) {
      at(seen, run, step).losses = at(seen, run, step - 2).losses;
    }
  }
  EXPECT_THAT(refuted(seen), Contains("independence of the losses"));
}

TEST(SingleTests, LossesRefuteOneSeedInTwoRuns) {
  auto seen = honest("seed");
  for (std::int64_t step = 0; step < 40; step += 2) at(seen, 2, step).losses = at(seen, 0, step).losses;
  EXPECT_THAT(refuted(seen), ::testing::ElementsAre("independence of the losses"));
}

// Batches as a sampler would draw them; `draw(batch)` gives sorted records.
template <class Draw>
SamplerCounts counted(std::int64_t population, double rate, std::int64_t batches, Draw draw) {
  const auto size = static_cast<std::size_t>(population);
  SamplerCounts counts{
      "gradient", population, rate, {}, std::vector<std::int64_t>(size), std::vector<std::int64_t>(size - 1)};
  for (std::int64_t b = 0; b < batches; ++b) {
    const std::vector<std::int64_t> members = draw(b);
    counts.sizes.push_back(static_cast<std::int64_t>(members.size()));
    std::vector<bool> in(size + 1);
    for (const auto member : members) in[static_cast<std::size_t>(member)] = true;
    for (std::size_t i = 0; i < size; ++i) {
      counts.inclusions[i] += in[i] ? 1 : 0;
      if (i + 1 < size) counts.pair_together[i] += in[i] && in[i + 1] ? 1 : 0;
    }
  }
  return counts;
}

std::vector<std::int64_t> poisson(std::int64_t batch, std::int64_t population, double rate) {
  return random::poisson_sample(random::key_from_seed("batches"), {.step = static_cast<std::uint32_t>(batch)},
                                population, rate);
}

std::vector<std::string> refuted(const SamplerCounts& counts) {
  Observations seen;
  seen.samplers = {counts};
  return refuted_names(judge(seen, {100, 1e-3, "x"}, 1e-4).value());
}

TEST(SingleTests, SamplerAcceptsPoisson) {
  for (const auto& [population, rate, batches] : {std::tuple{500, 0.02, 400}, std::tuple{2000, 0.1, 100},
                                                  std::tuple{50, 0.5, 1000}, std::tuple{3, 0.3, 5}}) {
    EXPECT_THAT(refuted(counted(population, rate, batches,
                                [&](std::int64_t b) { return poisson(b, population, rate); })),
                IsEmpty())
        << population;
  }
}

TEST(SingleTests, SamplerRefutesShuffledEpochs) {
  const auto counts = counted(500, 0.02, 400, [](std::int64_t b) {
    const auto order = random::permutation(random::key_from_seed("epochs"),
                                           {.step = static_cast<std::uint32_t>(b / 50)}, 500);
    const auto first = order.begin() + (b % 50) * 10;
    return std::vector<std::int64_t>(first, first + 10);
  });
  EXPECT_THAT(refuted(counts), Contains("inclusions, gradient"));
  EXPECT_THAT(refuted(counts), Contains("batch sizes, gradient"));
}

TEST(SingleTests, SamplerRefutesBatchesUsedFiveTimes) {
  EXPECT_THAT(refuted(counted(500, 0.02, 400, [](std::int64_t b) { return poisson(b / 5, 500, 0.02); })),
              Contains("inclusions, gradient"));
}

// Records 2 i and 2 i + 1 share a coin.
TEST(SingleTests, SamplerRefutesRecordsInPairs) {
  const auto counts = counted(500, 0.02, 400, [](std::int64_t b) {
    std::vector<std::int64_t> members;
    for (const auto pair : poisson(b, 250, 0.02)) members.insert(members.end(), {2 * pair, 2 * pair + 1});
    return members;
  });
  EXPECT_THAT(refuted(counts), Contains("pairs, gradient"));
}

TEST(SingleTests, SamplerRefutesAWrongRate) {
  for (const double factor : {2.0 / 3, 3.0 / 2}) {
    EXPECT_THAT(
        refuted(counted(500, 0.02, 100, [&](std::int64_t b) { return poisson(b, 500, 0.02 * factor); })),
        Contains("batch sizes, gradient"));
  }
}

TEST(SingleTests, SamplerRefutesAFavouredRecord) {
  const auto counts = counted(500, 0.02, 400, [](std::int64_t b) {
    auto members = poisson(b, 500, 0.02);
    if (b % 10 == 0 && !std::binary_search(members.begin(), members.end(), 7)) members.push_back(7);
    return members;
  });
  EXPECT_THAT(refuted(counts), Contains("inclusions, gradient"));
}

}  // namespace single_tests_test
}  // namespace hyfreedp::audit
