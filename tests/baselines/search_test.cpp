// The searches over candidates: which runs are made, at what noise, which is picked and what that
// costs.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "baselines/run_count.h"
#include "baselines/support.h"
#include "fake_world.h"

namespace hyfreedp::baselines {
namespace {

// The method as `options` make it.
const Baseline& method(const std::string& name, const json::object& options) {
  const auto& entry = *find_baseline(name).value();
  return reading_of(entry, resolve_options(entry.options, options, name).value());
}

Cell cell(const std::string& name, const json::object& options, double epsilon = 3) {
  return fake::cell_of(method(name, options), epsilon, options);
}

fake::Configs wanted(const std::string& name, const json::object& options, double epsilon = 3) {
  return method(name, options).next(cell(name, options, epsilon), {}).value();
}

fake::Study study_of(const std::string& name, const json::object& options, double epsilon = 3) {
  return fake::run_study(method(name, options), cell(name, options, epsilon), fake::ordinary_world);
}

std::string failure_of(const fake::Study& study) {
  return study.conclusion.failure ? study.conclusion.failure->kind : "none";
}

double rate_of(const trial::TrialConfig& config) { return double_or(config.controller.options, "lr", -1); }

double calibrated(double rate, std::int64_t steps, double epsilon) {
  return accounting::calibrate_gaussian(rate, steps, epsilon, 1e-5).value().noise_multiplier;
}

using Pairs = std::set<std::pair<double, double>>;

Pairs rates_and_thresholds(const fake::Configs& configs) {
  Pairs pairs;
  for (const auto& config : configs) pairs.insert({rate_of(config), config.privacy.clipping.constant});
  return pairs;
}

TEST(TunedGrid, ComposedRunsTheWholeGridAtTheNoiseOfItsSummedLength) {
  const auto runs = wanted("dpsgd", {{"tuning", "composed"}}, 8);
  ASSERT_EQ(runs.size(), 40u);
  EXPECT_EQ(rates_and_thresholds(runs).size(), 40u);
  for (const auto& config : runs) {
    EXPECT_DOUBLE_EQ(config.privacy.gradient_noise, calibrated(0.1, 40 * 12, 8));
    EXPECT_EQ(config.privacy.clipping.rule, trial::ClippingRule::abadi);
    EXPECT_EQ(config.optimizer.name, "sgd");
    EXPECT_EQ(double_or(config.optimizer.options, "momentum", -1), 0);
    ASSERT_TRUE(config.evaluation.score);
    EXPECT_EQ(config.evaluation.score->noise_counts, 30);
  }
}

TEST(TunedGrid, ComposedReportsTheBestNoisedScoreAndChargesEveryRun) {
  const auto study = study_of("dpsgd", {{"tuning", "composed"}, {"thresholds", {0.5}}});
  const auto best = std::max_element(
      study.finished.begin(), study.finished.end(),
      [](const auto& one, const auto& other) { return one.released_score < other.released_score; });
  EXPECT_EQ(study.conclusion.reported_trial, best->id);
  EXPECT_EQ(study.conclusion.composition.rule, Composition::Rule::sum);
  EXPECT_EQ(study.conclusion.composition.trials.size(), 10u);
}

TEST(TunedGrid, DrawsCandidatesWithoutReplacement) {
  const json::object options{{"tuning", "composed"}, {"candidates", 39}};
  EXPECT_EQ(rates_and_thresholds(wanted("dpsgd", options)).size(), 39u);
  std::set<Pairs> draws;
  Pairs seen;
  for (std::int64_t seed = 0; seed < 120; ++seed) {
    const json::object four{{"tuning", "composed"}, {"candidates", 4}};
    auto in = cell("dpsgd", four);
    in.seed = seed;
    const auto pairs = rates_and_thresholds(method("dpsgd", four).next(in, {}).value());
    EXPECT_EQ(pairs.size(), 4u);
    draws.insert(pairs);
    seen.insert(pairs.begin(), pairs.end());
  }
  EXPECT_GT(draws.size(), 110u) << "of 91390 sets";
  // Each candidate is missed with probability .9^120: below 1.3e-4 that any is, and the seeds are
  // fixed.
  EXPECT_EQ(seen.size(), 40u);
}

TEST(TunedGrid, EachRivalHasItsGrid) {
  const auto adam = wanted("dpadam", {});
  EXPECT_EQ(rates_and_thresholds(adam), (Pairs{{1e-3, 0.1}, {1e-3, 0.2}, {1e-3, 0.5}, {1e-3, 1.0}}));
  EXPECT_EQ(adam.front().optimizer.name, "adam");
  const auto adadp = wanted("adadp", {});
  EXPECT_EQ(rates_and_thresholds(adadp), (Pairs{{1, 0.1}, {1, 0.2}, {1, 0.5}, {1, 1.0}}));
  EXPECT_EQ(adadp.front().optimizer.name, "adadp");
  for (const auto& config : wanted("dpmomentum", {{"momenta", {0.8, 0.99}}, {"tuning", "composed"}})) {
    const double momentum = double_or(config.optimizer.options, "momentum", 0);
    EXPECT_TRUE(momentum == 0.8 || momentum == 0.99);
  }
  EXPECT_EQ(wanted("dpmomentum", {{"momenta", {0.8, 0.99}}, {"tuning", "composed"}}).size(), 80u);
}

TEST(TunedGrid, AnOracleChargesTheReportedRunAlone) {
  const auto study = study_of("dpsgd", {{"tuning", "oracle"}, {"thresholds", {0.5}}});
  EXPECT_EQ(study.conclusion.label, Label::oracle);
  EXPECT_EQ(study.conclusion.composition.rule, Composition::Rule::trial);
  // The world's best is eta T = 0.2 at T = 12.
  const auto reported =
      std::ranges::find(study.finished, study.conclusion.reported_trial, &FinishedTrial::id);
  ASSERT_NE(reported, study.finished.end());
  EXPECT_EQ(rate_of(reported->config), 2e-2);
  EXPECT_DOUBLE_EQ(reported->config.privacy.gradient_noise, calibrated(0.1, 12, 3));
}

TEST(TunedGrid, ASelectionMakesAsManyRunsInTheMeanAsThereAreCandidates) {
  const auto selection = method("dpsgd", {}).selection(cell("dpsgd", {})).value();
  EXPECT_EQ(selection.mean, 40);
  const json::object small{{"rates", {0.1}}, {"thresholds", {1}}};
  EXPECT_GT(method("dpsgd", small).selection(cell("dpsgd", small)).value().mean, 1) << "and none is possible";
  EXPECT_TRUE(method("dpsgd", {}).confidential_runs);
  EXPECT_FALSE(method("dpsgd", {{"tuning", "composed"}}).confidential_runs);
  EXPECT_FALSE(method("dpsgd", {{"tuning", "composed"}}).selection);
}

// The same runs at the same count, at the older and dearer price.
TEST(TunedGrid, LiuAndTalwarsPriceIsAnotherForTheSameSearch) {
  const auto geometric = wanted("dpsgd", {});
  const auto liu_talwar = wanted("dpsgd", {{"runs", "liu-talwar"}});
  ASSERT_EQ(geometric.size(), liu_talwar.size());
  for (std::size_t i = 0; i < geometric.size(); ++i) {
    EXPECT_EQ(rate_of(geometric[i]), rate_of(liu_talwar[i]));
    EXPECT_GT(liu_talwar[i].privacy.gradient_noise, geometric[i].privacy.gradient_noise);
  }
  const auto selection =
      method("dpsgd", {{"runs", "liu-talwar"}}).selection(cell("dpsgd", {{"runs", "liu-talwar"}}));
  EXPECT_EQ(selection->distribution, accounting::Selection::Distribution::liu_talwar);
}

TEST(RandomSearch, OneDrawIsOneRunAtTheFullBudgetWithoutAScore) {
  const auto runs = wanted("random-search", {});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_FALSE(runs.front().evaluation.score);
  EXPECT_DOUBLE_EQ(runs.front().privacy.gradient_noise, calibrated(0.1, 12, 3));
  EXPECT_EQ(runs.front().privacy.clipping.rule, trial::ClippingRule::auto_s);
}

TEST(RandomSearch, DrawsRatesAsItSays) {
  for (const char* sampling : {"log-uniform", "uniform"}) {
    const json::object options{
        {"runs", 2000}, {"sampling", sampling}, {"rate_min", 1e-4}, {"rate_max", 1e-2}};
    int below = 0;
    for (const auto& config : wanted("random-search", options, 8)) {
      EXPECT_GE(rate_of(config), 1e-4 * (1 - 1e-12));
      EXPECT_LE(rate_of(config), 1e-2);
      below += rate_of(config) < 1e-3 ? 1 : 0;
    }
    // Log-uniform: half of them, standard deviation 22; uniform: 1/11, 13.
    EXPECT_NEAR(below, std::string(sampling) == "uniform" ? 182 : 1000, 110) << sampling;
  }
}

TEST(RandomSearch, DrawsLengthsAndThresholdsAndSharesOneNoise) {
  const json::object options{
      {"runs", 30}, {"t_min", 4}, {"t_max", 20}, {"threshold_min", 0.2}, {"threshold_max", 2.0}};
  const auto runs = wanted("random-search", options);
  std::set<std::int64_t> lengths;
  std::int64_t total = 0;
  for (const auto& config : runs) {
    lengths.insert(config.steps);
    total += config.steps;
    EXPECT_EQ(config.privacy.clipping.rule, trial::ClippingRule::abadi);
    EXPECT_GE(config.privacy.clipping.constant, 0.2 * (1 - 1e-12));
    EXPECT_LE(config.privacy.clipping.constant, 2);
  }
  EXPECT_GE(*lengths.begin(), 4);
  EXPECT_LE(*lengths.rbegin(), 20);
  EXPECT_GT(lengths.size(), 8u);
  for (const auto& config : runs) {
    EXPECT_DOUBLE_EQ(config.privacy.gradient_noise, calibrated(0.1, total, 3));
  }
}

TEST(SingleStep, IsOneFullBatchStepFromZeroAtAPublicRate) {
  auto in = cell("single-step", {});
  in.base.model.options["init"] = "he";
  const auto runs = method("single-step", {}).next(in, {}).value();
  ASSERT_EQ(runs.size(), 1u);
  const auto& config = runs.front();
  EXPECT_EQ(config.steps, 1);
  EXPECT_EQ(config.privacy.sampler, trial::Sampler::full_batch);
  EXPECT_EQ(config.privacy.batch_size, 2000);
  EXPECT_EQ(config.privacy.sample_rate, 1);
  EXPECT_EQ(string_or(config.model.options, "init", ""), "zero");
  EXPECT_EQ(config.optimizer.name, "sgd");
  EXPECT_EQ(rate_of(config), 1);
  EXPECT_FALSE(config.evaluation.score) << "one rate needs no tuning";
  EXPECT_DOUBLE_EQ(config.privacy.gradient_noise, calibrated(1, 1, 3));
}

TEST(SingleStep, MoreRatesAreChosenAmongAndCharged) {
  const auto runs = wanted("single-step", {{"rates", {0.1, 1.0, 10.0}}});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_DOUBLE_EQ(runs.front().privacy.gradient_noise, calibrated(1, 3, 3));
  EXPECT_TRUE(runs.front().evaluation.score);
  const json::object selected{{"rates", {0.1, 1.0}}, {"tuning", "selection"}};
  EXPECT_EQ(study_of("single-step", selected).conclusion.composition.rule, Composition::Rule::selection);
}

TEST(SubsetTuning, TunesOnOnePartAndReportsARunOnTheRest) {
  const json::object options{{"share", 0.25}, {"grid", {1e-3, 2e-2, 0.3}}};
  const auto study = study_of("subset-tuning", options);
  ASSERT_EQ(study.finished.size(), 4u);
  const auto& last = study.finished.back();
  EXPECT_EQ(study.conclusion.reported_trial, last.id);
  // The world's best is eta T = 0.2 at T = 12.
  EXPECT_EQ(rate_of(last.config), 2e-2);
  EXPECT_FALSE(last.config.evaluation.score) << "nothing is chosen by the final run";
  const auto tuning = study.finished.front().config.privacy.population;
  EXPECT_NEAR(static_cast<double>(tuning), 500, 80) << "4 standard deviations";
  EXPECT_EQ(tuning + last.config.privacy.population, 2000);
  for (const auto& trial : study.finished) {
    const auto& plan = trial.config.privacy;
    EXPECT_EQ(string_or(trial.config.dataset.options, "part", ""), trial.id == last.id ? "rest" : "tuning");
    EXPECT_EQ(plan.sample_rate, 0.1);
    EXPECT_DOUBLE_EQ(plan.batch_size, 0.1 * static_cast<double>(plan.population));
    EXPECT_DOUBLE_EQ(plan.gradient_noise, calibrated(0.1, trial.id == last.id ? 12 : 3 * 12, 3));
  }
}

// Each part has the whole epsilon: together they cost it once, where runs on all of the data would
// cost more.
TEST(SubsetTuning, PartsComposeInParallelAndAreStoredSo) {
  const auto study = study_of("subset-tuning", {{"share", 0.5}, {"grid", {1e-3, 2e-2}}});
  const auto& composition = study.conclusion.composition;
  EXPECT_EQ(composition.trials.size(), 3u);
  EXPECT_EQ(composition.parts.size(), 3u);
  const auto executed = [&](const std::string& id) -> Result<std::vector<accounting::Event>> {
    return fake::intended_events(std::ranges::find(study.finished, id, &FinishedTrial::id)->config);
  };
  const auto epsilon = [&](const Composition& of) {
    return accounting::report_epsilon(compose(of, executed).value(), 1e-5).value().epsilon;
  };
  EXPECT_LE(epsilon(composition), 3 * (1 + 1e-9));
  const auto again = Composition::from_json(composition.to_json(), "composition").value();
  EXPECT_EQ(again.parts, composition.parts);
  EXPECT_EQ(epsilon(again), epsilon(composition));
  auto whole = composition;
  whole.parts.clear();
  EXPECT_GT(epsilon(whole), 3.5);
  auto forgotten = composition;
  forgotten.parts.erase(forgotten.parts.begin());
  EXPECT_FALSE(compose(forgotten, executed)) << "a run of which no part is told";
}

TEST(SubsetTuning, OneRateNeedsNoTuning) {
  const auto study = study_of("subset-tuning", {{"grid", {1e-2}}});
  ASSERT_EQ(study.finished.size(), 1u);
  EXPECT_EQ(string_or(study.finished.front().config.dataset.options, "part", ""), "rest");
}

TEST(SubsetTuning, FailuresAreTyped) {
  EXPECT_EQ(failure_of(study_of("subset-tuning", {{"grid", json::array{}}})), "empty-grid");
  auto tiny = cell("subset-tuning", {{"share", 0.001}});
  tiny.base.privacy.population = 3;
  EXPECT_EQ(failure_of(fake::run_study(method("subset-tuning", {}), tiny, fake::ordinary_world)),
            "empty-part");
  EXPECT_EQ(failure_of(study_of("subset-tuning", {{"score_noise", 0.1}}, 1)), "infeasible-epsilon");
  // Only the final run fails: what the tuning cost is still said.
  const auto in = cell("subset-tuning", {});
  const auto study = fake::run_study(method("subset-tuning", {}), in, [](const trial::TrialConfig& config) {
    return string_or(config.dataset.options, "part", "") == "rest" ? fake::broken_world(config)
                                                                   : fake::ordinary_world(config);
  });
  EXPECT_EQ(failure_of(study), "diverged");
  EXPECT_EQ(study.conclusion.composition.trials.size(), 9u);
}

// The run on the rest would have followed: that it did not is known from the data alone.
TEST(SubsetTuning, WithoutAnyScoreTheFinalRunIsChargedAllTheSame) {
  const auto in = cell("subset-tuning", {});
  const auto study = fake::run_study(method("subset-tuning", {}), in, fake::broken_world);
  EXPECT_EQ(failure_of(study), "all-trials-failed");
  const auto whole = fake::run_study(method("subset-tuning", {}), in, fake::ordinary_world);
  const auto on_the_rest = [](const fake::Study& of) {
    accounting::Events rest;
    for (const auto& event : fake::cost(of).value().events) {
      if (event.split == "private_train-rest") rest.events.push_back(event);
    }
    return rest;
  };
  ASSERT_FALSE(on_the_rest(study).events.empty());
  EXPECT_EQ(accounting::events_to_json(on_the_rest(study)), accounting::events_to_json(on_the_rest(whole)));
}

TEST(OracleGrid, CrossesRatesLengthsAndThresholds) {
  const json::object options{{"grid", {1e-2, 2e-2}}, {"thresholds", {0.1, 1.0}}, {"lengths", {6, 24}}};
  const auto runs = wanted("nondp-gs", options);
  ASSERT_EQ(runs.size(), 8u);
  for (const auto& config : runs) {
    EXPECT_DOUBLE_EQ(config.privacy.gradient_noise, calibrated(0.1, config.steps, 3)) << config.steps;
    EXPECT_TRUE(config.evaluation.oracle_validation);
  }
  const auto usual = wanted("nondp-gs", {});
  ASSERT_EQ(usual.size(), 5u) << "the panel's length and clipping";
  EXPECT_EQ(usual.front().steps, 12);
  EXPECT_EQ(usual.front().privacy.clipping.rule, trial::ClippingRule::auto_s);
  // Without privacy there is nothing to clip.
  auto plain = fake::cell_of(method("nondp-gs", options), {}, options);
  EXPECT_EQ(method("nondp-gs", options).next(plain, {}).value().size(), 4u);
  plain.base.privacy.clipping.rule = trial::ClippingRule::auto_s;
  EXPECT_EQ(method("nondp-gs", options).next(plain, {}).value().size(), 8u) << "the clip-only arm";
}

TEST(Search, NothingToChooseFromIsATypedFailure) {
  const json::array none;
  EXPECT_EQ(failure_of(study_of("dpsgd", {{"rates", none}})), "empty-grid");
  EXPECT_EQ(failure_of(study_of("dpadam", {{"thresholds", none}})), "empty-grid");
  EXPECT_EQ(failure_of(study_of("dpmomentum", {{"momenta", none}, {"tuning", "oracle"}})), "empty-grid");
  EXPECT_EQ(failure_of(study_of("single-step", {{"rates", none}})), "empty-grid");
  EXPECT_EQ(failure_of(study_of("random-search", {{"rate_min", 1.0}})), "empty-grid");
  EXPECT_EQ(failure_of(study_of("random-search", {{"t_min", 30}, {"t_max", 20}})), "empty-grid");
  EXPECT_EQ(failure_of(study_of("random-search", {{"threshold_min", 3.0}, {"threshold_max", 2.0}})),
            "empty-grid");
}

TEST(Search, ScoresThatCostMoreThanTheTargetAreInfeasible) {
  for (const char* tuning : {"composed", "selection"}) {
    const auto study = study_of("dpsgd", {{"tuning", tuning}, {"score_noise", 0.5}}, 1);
    EXPECT_EQ(failure_of(study), "infeasible-epsilon") << tuning;
    EXPECT_NE(study.conclusion.failure->message.find("score_noise"), std::string::npos) << tuning;
  }
  // A single run releases no score, so the noise of one is refused.
  const auto& table = (*find_baseline("random-search"))->options;
  EXPECT_FALSE(resolve_options(table, {{"score_noise", 0.5}}, ""));
  EXPECT_TRUE(resolve_options(table, {{"score_noise", 0.5}, {"runs", 2}}, ""));
}

TEST(Search, ALabelIsTheReadings) {
  for (const auto& [tuning, label] :
       {std::pair{"selection", Label::end_to_end}, std::pair{"composed", Label::end_to_end},
        std::pair{"oracle", Label::oracle}}) {
    EXPECT_EQ(method("dpadam", {{"tuning", tuning}}).label, label) << tuning;
  }
}

TEST(Search, ALabelHoldsForFailuresToo) {
  const json::object options{{"tuning", "oracle"}};
  const auto study = fake::run_study(method("dpadam", options), cell("dpadam", options), fake::broken_world);
  EXPECT_EQ(failure_of(study), "all-trials-failed");
  EXPECT_EQ(study.conclusion.label, Label::oracle);
}

}  // namespace
}  // namespace hyfreedp::baselines
