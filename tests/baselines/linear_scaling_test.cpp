// The ways of the linear scaling search: fits, splits of r, sampled batches, the whole product, the
// unpriced pick.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "baselines/linear_rule.h"
#include "baselines/support.h"
#include "fake_world.h"
#include "harness/base/files.h"
#include "harness/mechanism/set_optimizer.h"

namespace hyfreedp::baselines {
namespace {

namespace rule = linear_rule;

const Baseline& method() { return *find_baseline("linear-scaling").value(); }

Cell cell(const json::object& options) { return fake::cell_of(method(), 3, options); }

fake::Study study_of(const json::object& options, const fake::World& world = fake::ordinary_world) {
  return fake::run_study(method(), cell(options), world);
}

double rate_of(const trial::TrialConfig& config) { return double_or(config.controller.options, "lr", -1); }

// What sweeps and final runs do must not depend on how scores come out, where noises may not.
FinishedTrial contrary_world(const trial::TrialConfig& config) {
  auto trial = fake::ordinary_world(config);
  if (trial.released_score) *trial.released_score *= -1;
  return trial;
}

TEST(LinearScaling, DefaultsKeepTheirRuns) {
  // Hashes of the ids of all runs and of the options, recorded before the search had its later
  // options.
  const auto hashes = [](const json::object& options) {
    const auto in = cell(options);
    std::string ids;
    for (const auto& trial : fake::run_study(method(), in, fake::ordinary_world).finished)
      ids += trial.id + " ";
    return std::pair(sha256_hex(ids).substr(0, 16), sha256_hex(canonical_json(in.options)).substr(0, 16));
  };
  using Hashes = std::pair<std::string, std::string>;
  EXPECT_EQ(hashes({}), (Hashes{"acb0dbc2af3ca266", "94a5134e4577b42b"}));
  EXPECT_EQ(hashes({{"axis", "mu"}, {"range", "full"}}), (Hashes{"a5d76a2187b6c024", "144c89e4130104e8"}));
  EXPECT_EQ(hashes({{"decompose", "rejection"}}), (Hashes{"11da0b2a9becc8ac", "913046becb028940"}));
}

TEST(LinearScaling, EveryRunTakesTheFreeStepWhereItIsAskedFor) {
  const auto study = study_of({{"free_step", true}});
  ASSERT_EQ(study.finished.size(), 7u);
  for (const auto& trial : study.finished) {
    EXPECT_TRUE(bool_or(trial.config.optimizer.options, "free_step", false));
  }
  const auto refused = study_of({{"free_step", true}, {"momentum", 0.0}});
  ASSERT_TRUE(refused.conclusion.failure);
  EXPECT_NE(refused.conclusion.failure->message.find("needs a 'momentum' above 0"), std::string::npos);
}

// Where the panel trains with DP-ZO the search does too, with its own momentum; elsewhere with SGD,
// whatever the panel's optimizer is.
TEST(LinearScaling, SearchesForDpZoWhereThePanelTrainsWithIt) {
  auto in = cell({{"momentum", 0.5}});
  in.base.privacy = with_threshold(in.base.privacy, 0.02);
  mechanism::set_optimizer(in.base, optimizer("dp-zo", {{"scale", 0.01}}));
  const auto study = fake::run_study(method(), in, fake::ordinary_world);
  ASSERT_EQ(study.finished.size(), 7u);
  EXPECT_FALSE(study.conclusion.failure);
  for (const auto& trial : study.finished) {
    const auto& config = trial.config;
    EXPECT_EQ(config.optimizer, optimizer("dp-zo", {{"scale", 0.01}, {"momentum", 0.5}}));
    EXPECT_EQ(config.privacy.released, trial::Released::loss_change);
    EXPECT_EQ(config.privacy.clipping.constant, 0.02);
    EXPECT_TRUE(config.privacy.check());
  }
  const auto of_sgd = study_of({}).finished.front().config;
  EXPECT_EQ(of_sgd.optimizer.name, "sgd");
  EXPECT_EQ(of_sgd.privacy.released, trial::Released::gradient);
}

TEST(LinearRule, FitsAreLeastSquaresAndParabolas) {
  const std::vector<rule::Point> two{{0.1, 3}, {0.2, 5}};
  EXPECT_NEAR(rule::extrapolate(rule::Fit::line, two, 0.88), 1 + 20 * 0.88, 1e-12);
  // Points off a line: the normal equations give slope 4.5 and mean (2, 11/3).
  const std::vector<rule::Point> three{{1, 0}, {2, 2}, {3, 9}};
  EXPECT_NEAR(rule::extrapolate(rule::Fit::line, three, 10), 11.0 / 3 + 4.5 * 8, 1e-12);
  // r = 2 x^2 - x + 3.
  const std::vector<rule::Point> curve{{0.1, 2.92}, {0.2, 2.88}, {0.3, 2.88}};
  EXPECT_NEAR(rule::extrapolate(rule::Fit::quadratic, curve, 0.7), 3.28, 1e-12);
}

TEST(LinearScaling, AThirdSweepIsPaidToo) {
  for (const char* fit : {"line-3", "quadratic"}) {
    const auto study = study_of({{"fit", fit}});
    ASSERT_EQ(study.finished.size(), 10u) << fit;
    double squares = 0;
    for (const auto& trial : study.finished) {
      const double sigma = trial.config.privacy.gradient_noise;
      squares += static_cast<double>(trial.config.steps) / (sigma * sigma);
    }
    EXPECT_NEAR(std::sqrt(squares), accounting::gdp_mu(3, 1e-5).value(), 1e-9) << fit;
    // The third sweep has the largest epsilon of the three.
    EXPECT_LT(study.finished[8].config.privacy.gradient_noise /
                  std::sqrt(static_cast<double>(study.finished[8].config.steps)),
              study.finished[3].config.privacy.gradient_noise /
                  std::sqrt(static_cast<double>(study.finished[3].config.steps)));
  }
}

// The paper's figure 2: two sweeps at fixed budgets, and one line for every epsilon above them.
TEST(LinearScaling, OneSearchServesAllEpsilonsOfARow) {
  const json::object options{{"sweep_epsilons", json::array{0.1, 0.2}}};
  const auto study_at = [&](double epsilon, const json::object& with) {
    const auto in = fake::cell_of(method(), epsilon, with);
    return std::pair(in, fake::run_study(method(), in, fake::ordinary_world));
  };
  const auto [low_cell, low] = study_at(1, options);
  const auto [high_cell, high] = study_at(8, options);
  ASSERT_EQ(low.finished.size(), 7u);
  ASSERT_EQ(high.finished.size(), 7u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(low.finished[i].id, high.finished[i].id) << i;
  EXPECT_NE(low.finished[6].id, high.finished[6].id);
  // Each pays for the whole search.
  for (const auto& [in, study] : {std::pair(low_cell, low), std::pair(high_cell, high)}) {
    EXPECT_EQ(study.conclusion.composition.trials.size(), 7u);
    double squares = 0;
    for (const auto& trial : study.finished) {
      const double sigma = trial.config.privacy.gradient_noise;
      squares += static_cast<double>(trial.config.steps) / (sigma * sigma);
    }
    EXPECT_NEAR(std::sqrt(squares), accounting::gdp_mu(*in.epsilon, 1e-5).value(), 1e-9);
  }
  const double sigma = low.finished[0].config.privacy.gradient_noise;
  EXPECT_NEAR(std::sqrt(static_cast<double>(low.finished[0].config.steps)) / sigma,
              accounting::gdp_mu(0.1, 1e-5).value(), 1e-9);
  // By shares, each searches anew.
  EXPECT_NE(study_at(1, {}).second.finished[0].id, study_at(8, {}).second.finished[0].id);

  const auto none_left = study_at(0.2, options).second.conclusion;
  ASSERT_TRUE(none_left.failure);
  EXPECT_EQ(none_left.failure->kind, "infeasible-epsilon");
  const auto one = study_at(1, {{"sweep_epsilons", json::array{0.1}}}).second.conclusion;
  ASSERT_TRUE(one.failure);
  EXPECT_NE(one.failure->message.find("one epsilon for each of the 2 sweeps, not 1"), std::string::npos);
  EXPECT_TRUE(study_at(1, {{"sweep_epsilons", json::array{0.1, 0.1}}}).second.conclusion.failure);
}

TEST(LinearScaling, SplitsOfRKeepWhatTheyFix) {
  for (const auto& trial : study_of({{"decompose", "fixed-t"}}).finished) EXPECT_EQ(trial.config.steps, 100);
  for (const auto& trial : study_of({{"decompose", "fixed-eta"}, {"eta_max", 0.4}}).finished) {
    EXPECT_EQ(rate_of(trial.config), 0.4);
    EXPECT_GE(trial.config.steps, 20);
    EXPECT_LE(trial.config.steps, 100);
  }
  for (const auto& trial : study_of({{"decompose", "uniform-both"}}).finished) {
    EXPECT_LE(rate_of(trial.config), 3.2);
    EXPECT_GE(rate_of(trial.config), 0.01);
    EXPECT_LE(rate_of(trial.config) * static_cast<double>(trial.config.steps), 64 * (1 + 1e-12));
  }
}

TEST(LinearRule, AFixedRateMeetsRAsNearlyAsWholeStepsDo) {
  const rule::Space space{.eta_min = 0.5,
                          .eta_max = 0.5,
                          .t_min = 4,
                          .t_max = 100,
                          .r_cap = 30.3,
                          .decompose = rule::Decompose::fixed_eta};
  const auto never = []() -> double { throw std::runtime_error("a draw"); };
  EXPECT_EQ(rule::decompose(space, 7.3, never).steps, 15);
  const auto high = rule::decompose(space, 1000, never);
  EXPECT_EQ(high.steps, 60);  // 30.3 / 0.5, never above
  EXPECT_EQ(high.clamp, "capped_r_max");
  const auto low = rule::decompose(space, std::nan(""), never);
  EXPECT_EQ(low.steps, 4);
  EXPECT_EQ(low.clamp, "floored_r_min");
}

// However scores come out: not a number, infinite, all equal, falling or rising with r; and runs
// that fail.
TEST(LinearScaling, EndsAfterItsRunsWhateverTheScores) {
  const std::vector<std::function<double(double)>> scores = {
      [](double) { return std::nan(""); }, [](double) { return HUGE_VAL; }, [](double) { return -HUGE_VAL; },
      [](double) { return 0.0; },          [](double r) { return r; },      [](double r) { return -r; }};
  for (const char* split : {"uniform-t", "rejection", "uniform-both", "fixed-t", "fixed-eta"}) {
    for (const char* fit : {"line", "line-3", "quadratic"}) {
      for (const auto& score : scores) {
        const auto world = [&](const trial::TrialConfig& config) {
          auto trial = fake::ordinary_world(config);
          if (trial.released_score) *trial.released_score = score(rate_of(config));
          return trial;
        };
        json::object options{{"decompose", split}, {"fit", fit}};
        if (split != std::string("uniform-both")) options["range"] = "full";
        if (split == std::string("rejection")) options["max_tries"] = 5;
        const auto study = study_of(options, world);
        EXPECT_EQ(study.finished.size(), std::string(fit) == "line" ? 7u : 10u) << split << ' ' << fit;
        for (const auto& trial : study.finished) {
          EXPECT_TRUE(std::isfinite(rate_of(trial.config)));
          EXPECT_LE(rate_of(trial.config), 3.2 * (1 + 1e-12));
          EXPECT_LE(trial.config.steps, 100);
        }
      }
    }
  }
}

// No accountant here prices rates and noises that follow from results.
TEST(LinearScaling, SampledNoiseIsKnownBeforeTheFirstScore) {
  const json::object options{{"batch", "sampled"}, {"decompose", "fixed-t"}, {"t_max", 30}};
  const auto one = study_of(options);
  const auto other = study_of(options, contrary_world);
  ASSERT_EQ(one.finished.size(), 7u);
  ASSERT_EQ(other.finished.size(), 7u);
  EXPECT_NE(rate_of(one.finished.back().config), rate_of(other.finished.back().config));
  for (std::size_t i = 0; i < one.finished.size(); ++i) {
    const auto& plan = one.finished[i].config.privacy;
    EXPECT_EQ(plan.sampler, trial::Sampler::poisson);
    EXPECT_EQ(plan.sample_rate, 0.1);
    EXPECT_EQ(one.finished[i].config.steps, 30);
    EXPECT_EQ(plan.gradient_noise, other.finished[i].config.privacy.gradient_noise);
  }
}

TEST(LinearScaling, TheWholeProductDrawsBAndC) {
  const json::object options{
      {"batch", "sampled"},        {"decompose", "fixed-t"},   {"t_max", 30},    {"product", "eta-t-b-c"},
      {"batch_sizes", {100, 400}}, {"thresholds", {0.5, 2.0}}, {"range", "full"}};
  auto in = cell(options);
  in.base.privacy.clipping.rule = trial::ClippingRule::abadi;
  in.base.privacy.clipping.constant = 1;
  const auto one = fake::run_study(method(), in, fake::ordinary_world);
  const auto other = fake::run_study(method(), in, contrary_world);
  ASSERT_EQ(one.finished.size(), 7u);
  std::set<double> sizes;
  std::set<double> thresholds;
  for (std::size_t i = 0; i < one.finished.size(); ++i) {
    const auto& config = one.finished[i].config;
    sizes.insert(config.privacy.batch_size);
    thresholds.insert(config.privacy.clipping.constant);
    EXPECT_EQ(config.privacy.sample_rate, config.privacy.batch_size / 2000);
    const double r = rate_of(config) * config.privacy.clipping.constant * static_cast<double>(config.steps);
    EXPECT_GE(r, 0.01 * 30 * (1 - 1e-9));
    EXPECT_LE(r, 64 * (1 + 1e-9));
    const auto& again = other.finished[i].config.privacy;
    EXPECT_EQ(config.privacy.gradient_noise, again.gradient_noise);
    EXPECT_EQ(config.privacy.batch_size, again.batch_size);
    EXPECT_EQ(config.privacy.clipping.constant, again.clipping.constant);
  }
  // The same draws of r without B and C: the rate times C is the rate there.
  auto plain = in;
  for (const char* name : {"product", "batch_sizes", "thresholds"}) plain.options.erase(name);
  const auto first_sweep = method().next(plain, {}).value();
  ASSERT_EQ(first_sweep.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& config = one.finished[i].config;
    EXPECT_NEAR(rate_of(config) * config.privacy.clipping.constant, rate_of(first_sweep[i]), 1e-12);
  }
  EXPECT_EQ(sizes, (std::set<double>{100, 400}));
  EXPECT_EQ(thresholds, (std::set<double>{0.5, 2}));
  ASSERT_FALSE(one.conclusion.footnotes.empty());
  EXPECT_NE(one.conclusion.footnotes.back().find("eta T B C"), std::string::npos);
}

// Of the study while it is open or lost, too, and of a cell that fails.
TEST(LinearScaling, ThePapersPickIsAnOracleBeforeItsFirstRun) {
  const auto& entry = method();
  EXPECT_EQ(reading_of(entry, {{"score", "released"}}).label, Label::end_to_end);
  EXPECT_EQ(reading_of(entry, {{"score", "train-unpriced"}}).label, Label::oracle);
}

TEST(LinearScaling, ThePapersPickIsAnOracle) {
  const auto world = [](const trial::TrialConfig& config) {
    auto trial = fake::ordinary_world(config);
    if (config.evaluation.oracle_train) trial.oracle_train = rate_of(config);
    return trial;
  };
  const auto study = study_of({{"score", "train-unpriced"}}, world);
  ASSERT_EQ(study.finished.size(), 7u);
  for (std::size_t i = 0; i < 7; ++i) {
    const auto& evaluation = study.finished[i].config.evaluation;
    EXPECT_EQ(evaluation.oracle_train, i < 6);
    EXPECT_FALSE(evaluation.score);
  }
  EXPECT_EQ(study.conclusion.label, Label::oracle);
  EXPECT_EQ(study.conclusion.flags.front(), "picked by un-noised training accuracy");
  const auto broken = study_of({{"score", "train-unpriced"}}, fake::broken_world);
  ASSERT_TRUE(broken.conclusion.failure);
  EXPECT_EQ(broken.conclusion.label, Label::oracle);
}

// Where a search ends early follows from the data: what it costs must not.
TEST(LinearScaling, ASearchWithoutAnyScoreIsChargedAsPlanned) {
  const auto spent = [](const fake::Study& study) {
    return accounting::report_epsilon(fake::cost(study).value(), 1e-5).value().epsilon;
  };
  for (const auto& options : {json::object{{"fit", "line"}}, json::object{{"fit", "quadratic"}},
                              json::object{{"batch", "sampled"}, {"decompose", "fixed-t"}}}) {
    const auto whole = study_of(options);
    ASSERT_FALSE(whole.conclusion.failure);
    std::set<std::string> first;
    for (std::size_t i = 0; i < 3; ++i) first.insert(whole.finished[i].id);
    const auto in_the_second = [&](const trial::TrialConfig& config) {
      return first.contains(config.id()) ? fake::ordinary_world(config) : fake::broken_world(config);
    };
    for (const fake::World& world : {fake::World(fake::broken_world), fake::World(in_the_second)}) {
      const auto broken = study_of(options, world);
      ASSERT_TRUE(broken.conclusion.failure);
      EXPECT_LT(broken.finished.size(), whole.finished.size());
      EXPECT_NEAR(spent(broken), spent(whole), 1e-3);
      EXPECT_LE(spent(broken), 3);
      const auto written = broken.conclusion.composition.to_json();
      const auto read = Composition::from_json(written, "here").value();
      EXPECT_EQ(canonical_json(read.to_json()), canonical_json(written));
      EXPECT_EQ(broken.conclusion.footnotes.size(), 1u);
    }
  }
}

TEST(LinearScaling, AZeroHeadIsAskedForByName) {
  for (const auto& trial : study_of({{"head", "zero"}}).finished) {
    EXPECT_EQ(string_or(trial.config.model.options, "init", ""), "zero");
  }
}

TEST(LinearScaling, ContradictionsAreTypedFailures) {
  const std::vector<std::pair<json::object, std::string>> cases = {
      {{{"share1", 0.2}, {"share2", 0.2}}, "must differ"},
      {{{"batch", "sampled"}}, "fixed-t"},
      {{{"thresholds", {1.0}}}, "product"},
      {{{"product", "eta-t-b-c"}, {"thresholds", {1.0}}}, "abadi"},
      {{{"product", "eta-t-b-c"}, {"batch_sizes", {100}}}, "batch: sampled"},
      {{{"product", "eta-t-b-c"}, {"batch", "sampled"}, {"decompose", "fixed-t"}, {"batch_sizes", {3000}}},
       "2000"}};
  for (const auto& [options, said] : cases) {
    const auto study = study_of(options);
    ASSERT_TRUE(study.conclusion.failure) << said;
    EXPECT_TRUE(study.finished.empty());
    EXPECT_EQ(study.conclusion.failure->kind, "invalid-options") << said;
    EXPECT_NE(study.conclusion.failure->message.find(said), std::string::npos)
        << study.conclusion.failure->message;
  }
}

}  // namespace
}  // namespace hyfreedp::baselines
