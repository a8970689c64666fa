// What single methods do beyond the common contract: what they pick, share and refuse.
#include <algorithm>
#include <cmath>
#include <set>

#include "baselines/linear_rule.h"
#include "baselines/private_selection.h"
#include "baselines/run_count.h"
#include "baselines/support.h"
#include "fake_world.h"
#include "harness/mechanism/set_optimizer.h"

namespace hyfreedp::baselines {
namespace {

const Baseline& method(const std::string& name) { return *find_baseline(name).value(); }

double rate_of(const trial::TrialConfig& config) { return double_or(config.controller.options, "lr", -1); }

const FinishedTrial& reported(const fake::Study& study) {
  for (const auto& trial : study.finished) {
    if (trial.id == study.conclusion.reported_trial) return trial;
  }
  throw std::runtime_error("nothing reported");
}

Cell cell(const std::string& name, std::optional<double> epsilon, const json::object& options = {}) {
  return fake::cell_of(method(name), epsilon, options);
}

TEST(GridSearch, ReportsTheBestByUnNoisedValidationTheFirstOfEquals) {
  // The world's best is eta T = 0.2 at T = 12.
  const auto best = fake::run_study(method("nondp-gs"), cell("nondp-gs", 3, {{"grid", {1e-3, 2e-2, 0.3}}}),
                                    fake::ordinary_world);
  EXPECT_EQ(rate_of(reported(best).config), 2e-2);
  const auto flat = [](const trial::TrialConfig& config) {
    auto trial = fake::ordinary_world(config);
    trial.oracle_validation = 0.5;
    return trial;
  };
  const auto tie =
      fake::run_study(method("nondp-gs"), cell("nondp-gs", 3, {{"grid", {0.3, 1e-3}}}), flat, fake::last);
  EXPECT_EQ(rate_of(reported(tie).config), 0.3);
}

// DP-ZO's candidates release changes of losses, whatever the panel clips by; a method that brings
// an optimizer of its own releases gradients, also where the panel trains with DP-ZO.
TEST(DpZo, AndOthersReleaseWhatTheirOptimizerFollows) {
  const auto all = cell("dp-zo", 3, {{"tuning", "oracle"}});
  const auto study = fake::run_study(reading_of(method("dp-zo"), all.options), all, fake::ordinary_world);
  EXPECT_EQ(study.finished.size(), 15u);
  for (const auto& trial : study.finished) {
    EXPECT_EQ(trial.config.privacy.released, trial::Released::loss_change);
    EXPECT_EQ(trial.config.privacy.clipping.rule, trial::ClippingRule::abadi);
    EXPECT_EQ(trial.config.optimizer.name, "dp-zo");
  }
  for (const char* name : {"prodigy", "dpadamwosm", "single-step", "dpsgd"}) {
    auto in = cell(name, 3);
    in.base.privacy = with_threshold(in.base.privacy, 0.02);
    mechanism::set_optimizer(in.base, optimizer("dp-zo", {}));
    const auto wanted = reading_of(method(name), in.options).next(in, {}).value();
    ASSERT_FALSE(wanted.empty()) << name;
    EXPECT_NE(wanted.front().optimizer.name, "dp-zo") << name;
    EXPECT_EQ(wanted.front().privacy.released, trial::Released::gradient) << name;
  }
  // The panel's, with a rate of the method's.
  for (const char* name : {"nondp-gs", "random-search", "fixed-rate", "dp-hyper"}) {
    auto in = cell(name, 3);
    in.base.privacy = with_threshold(in.base.privacy, 0.02);
    mechanism::set_optimizer(in.base, optimizer("dp-zo", {}));
    const auto wanted = reading_of(method(name), in.options).next(in, {}).value();
    ASSERT_FALSE(wanted.empty()) << name;
    EXPECT_EQ(wanted.front().optimizer.name, "dp-zo") << name;
    EXPECT_EQ(wanted.front().privacy.released, trial::Released::loss_change) << name;
  }
}

TEST(HyFreeDpPlus, ProbesALargerBatchAndAveragesItsWeights) {
  const auto config = [](const std::string& name, const json::object& options, trial::Average own) {
    auto in = cell(name, 3, options);  // q .1, N 2000, T 12
    in.base.training.average = own;
    return method(name).next(in, {}).value().front();
  };
  const auto none = trial::Average::none;
  const auto plain = config("hyfreedp-plus", {}, none);
  EXPECT_DOUBLE_EQ(plain.privacy.probe->sample_rate, 0.25);
  EXPECT_DOUBLE_EQ(plain.privacy.probe->batch_size, 500);
  EXPECT_EQ(plain.training.average, trial::Average::ema);
  EXPECT_DOUBLE_EQ(plain.training.average_decay, 1 - 1 / 1.2);
  const auto whole = config("hyfreedp-plus", {{"probe_ratio", 20.0}, {"average_part", 0.0}}, none);
  EXPECT_DOUBLE_EQ(whole.privacy.probe->sample_rate, 1);
  EXPECT_EQ(whole.training.average, none);
  const auto given = config("hyfreedp-plus", {{"probe_sample_rate", 0.3}}, trial::Average::swa);
  EXPECT_DOUBLE_EQ(given.privacy.probe->sample_rate, 0.3);
  EXPECT_EQ(given.training.average, trial::Average::swa) << "the panel's own";
  auto free = cell("hyfreedp-plus", 3, {});
  free.base.optimizer.options["free_step"] = true;
  EXPECT_EQ(method("hyfreedp-plus").next(free, {}).value().front().training.average, none);
  const auto same_batch = config("hyfreedp-plus", {{"accounting", "folded"}}, none);
  EXPECT_DOUBLE_EQ(same_batch.privacy.probe->sample_rate, 0.1);
  const auto published = config("hyfreedp", {{"accounting", "separate-batch"}}, none);
  EXPECT_DOUBLE_EQ(published.privacy.probe->sample_rate, 0.1);
  EXPECT_EQ(published.training.average, none);
}

TEST(GridSearch, AnEmptyGridIsATypedFailure) {
  for (const char* name : {"nondp-gs", "dp-hyper", "dp-hyper-simulated"}) {
    const auto study =
        fake::run_study(method(name), cell(name, 3, {{"grid", json::array{}}}), fake::ordinary_world);
    ASSERT_TRUE(study.conclusion.failure) << name;
    EXPECT_EQ(study.conclusion.failure->kind, "empty-grid") << name;
  }
}

TEST(RandomSearch, AnEmptyRangeNamesItsTwoOptions) {
  using Case = std::pair<json::object, std::string>;
  for (const auto& [options, part] :
       {Case{{{"rate_min", 0.1}, {"rate_max", 0.01}}, "rate_min is 0.1 and rate_max is 0.01"},
        Case{{{"threshold_min", 2}, {"threshold_max", 1}}, "threshold_min is 2 and threshold_max is 1"},
        Case{{{"t_min", 9}, {"t_max", 5}}, "t_min is 9 and t_max is 5"}}) {
    const auto study =
        fake::run_study(method("random-search"), cell("random-search", 3, options), fake::ordinary_world);
    ASSERT_TRUE(study.conclusion.failure) << part;
    EXPECT_EQ(study.conclusion.failure->kind, "empty-grid");
    EXPECT_NE(study.conclusion.failure->message.find(part), std::string::npos)
        << study.conclusion.failure->message;
    EXPECT_TRUE(study.finished.empty()) << "nothing is run";
  }
}

TEST(GridSearch, RowsWithCommonRatesShareTrials) {
  const auto paper = method("nondp-gs").next(cell("nondp-gs", 3), {}).value();
  auto other_row = cell("nondp-gs", 3, {{"grid", {5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2}}});
  other_row.row = "wide";
  const auto wide = method("nondp-gs").next(other_row, {}).value();
  const auto simulated = method("dp-hyper-simulated").next(cell("dp-hyper-simulated", 3), {}).value();
  ASSERT_EQ(paper.size(), 5u);
  ASSERT_EQ(wide.size(), 8u);
  ASSERT_EQ(simulated.size(), 8u);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (i < paper.size()) {
      EXPECT_EQ(paper[i].id(), wide[i].id());
    }
    EXPECT_EQ(simulated[i].id(), wide[i].id());
  }
}

// One run of the optimizer that finds its own step: the multiplier is 1, the settings are the
// published ones.
TEST(OwnStep, RunsAsPublished) {
  for (const char* name : {"d-adaptation", "prodigy", "dog", "dowg"}) {
    const auto study = fake::run_study(method(name), cell(name, 3), fake::ordinary_world);
    ASSERT_EQ(study.finished.size(), 1u) << name;
    const auto& config = study.finished.front().config;
    EXPECT_EQ(rate_of(config), 1) << name;
    const bool adaptive = name[0] == 'p' || std::string(name) == "d-adaptation";
    EXPECT_EQ(double_or(config.optimizer.options, "weight_decay", 0), adaptive ? 0.01 : 0) << name;
  }
  const auto dog = method("dog").next(cell("dog", 3), {}).value().front();
  EXPECT_EQ(dog.optimizer.name, "dog");
  EXPECT_TRUE(dog.optimizer.options.at("average").as_bool()) << "the paper evaluates the average";
  EXPECT_EQ(double_or(dog.optimizer.options, "reps_rel", 0), 1e-6);
  EXPECT_EQ(method("dowg").next(cell("dowg", 3), {}).value().front().optimizer.name, "dowg");
}

TEST(GridSearch, ASchedulesGridIsOfItsLargestRate) {
  const auto runs = [](const json::object& options) {
    return method("nondp-gs").next(cell("nondp-gs", 3, options), {}).value();
  };
  const auto plain = runs({});
  EXPECT_EQ(plain.front().id(), runs({{"schedule", "none"}, {"warmup", 0}}).front().id());
  const auto cosine = runs({{"schedule", "cosine"}, {"warmup", 3}});
  ASSERT_EQ(cosine.size(), plain.size());
  for (std::size_t i = 0; i < cosine.size(); ++i) {
    const json::object expected{
        {"lr", rate_of(plain[i])}, {"warmup", 3}, {"decay", "cosine"}, {"final", 0.0}};
    EXPECT_EQ(cosine[i].controller.name, "schedule");
    EXPECT_EQ(canonical_json(cosine[i].controller.options), canonical_json(expected));
    EXPECT_EQ(cosine[i].privacy.gradient_noise, plain[i].privacy.gradient_noise);
  }
  const auto warm = runs({{"warmup", 3}}).front();
  EXPECT_EQ(warm.controller.name, "schedule");
  EXPECT_EQ(string_or(warm.controller.options, "decay", ""), "constant");
  EXPECT_EQ(string_or(runs({{"schedule", "linear"}}).front().controller.options, "decay", ""), "linear");
}

TEST(SimulatedSearch, TrainsANarrowRangeAroundTheOracleAtItsShare) {
  const auto study =
      fake::run_study(method("dp-hyper-simulated"),
                      cell("dp-hyper-simulated", 3, {{"grid", {1e-3, 2e-2, 0.3}}}), fake::ordinary_world);
  ASSERT_EQ(study.finished.size(), 6u);
  std::set<double> narrow;
  for (std::size_t i = 3; i < 6; ++i) {
    narrow.insert(rate_of(study.finished[i].config));
    EXPECT_GT(study.finished[i].config.privacy.gradient_noise,
              study.finished[0].config.privacy.gradient_noise);
  }
  EXPECT_EQ(narrow, (std::set<double>{1e-2, 2e-2, 4e-2}));
}

TEST(PrivateSelection, CountAndPicksFollowTheDraws) {
  const auto in = cell("dp-hyper", 3, {{"runs", "geometric"}, {"mean_runs", 4}});
  const auto wanted = method("dp-hyper").next(in, {}).value();
  ASSERT_EQ(static_cast<std::int64_t>(wanted.size()),
            run_count(RunCount::geometric, 0.25, draw(in, "run count", 0)));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto index = pick(draw(in, "candidate", static_cast<std::int64_t>(i)), 8);
    EXPECT_EQ(rate_of(wanted[i]), wide_grid()[static_cast<std::size_t>(index)]);
  }
}

TEST(PrivateSelection, EqualDrawsAreIndependentRuns) {
  const auto in = cell("dp-hyper", 3, {{"grid", {1e-2}}, {"runs", "poisson"}, {"mean_runs", 12}});
  const auto wanted = method("dp-hyper").next(in, {}).value();
  ASSERT_GT(wanted.size(), 2u);
  std::set<std::int64_t> repetitions;
  for (const auto& config : wanted) repetitions.insert(config.repetition);
  EXPECT_EQ(repetitions.size(), wanted.size());
}

// The reported run's repetition is public and the number of runs is not, so it must say nothing of
// a run's place: by place, labels have the same mean, and those of later runs are not the larger
// ones.
TEST(PrivateSelection, RepetitionsDoNotTellHowManyRunsThereWere) {
  auto in = cell("dp-hyper", 3, {{"grid", {1e-2}}, {"runs", "poisson"}, {"mean_runs", 12}});
  in.base.repetition = 2 * kRepetitionsPerRelease;
  double count = 0, places = 0, labels = 0, squares_p = 0, squares_l = 0, products = 0;
  for (in.seed = 0; in.seed < 300; ++in.seed) {
    const auto wanted = method("dp-hyper").next(in, {}).value();
    for (std::size_t place = 0; place < wanted.size(); ++place) {
      EXPECT_GT(wanted[place].repetition, in.base.repetition) << "shared with another row";
      EXPECT_LT(wanted[place].repetition, in.base.repetition + kRepetitionsPerRelease)
          << "of another release";
      const double p = static_cast<double>(place);
      const double l = static_cast<double>(wanted[place].repetition - in.base.repetition) / 1e6;
      count += 1, places += p, labels += l, squares_p += p * p, squares_l += l * l, products += p * l;
    }
  }
  ASSERT_GT(count, 3000);
  const double covariance = products / count - places * labels / count / count;
  const double variances = (squares_p / count - places * places / count / count) *
                           (squares_l / count - labels * labels / count / count);
  // The standard error of a correlation of n independent pairs is 1 / sqrt(n), below 0.019 here.
  EXPECT_LT(std::abs(covariance / std::sqrt(variances)), 0.08);
  EXPECT_NEAR(labels / count, 0.5, 0.025) << "uniform over the release";
}

// Given how many runs there were, the winner's label is that of any of them.
TEST(PrivateSelection, TheWinnersRepetitionDoesNotDependOnItsPlace) {
  auto in = cell("dp-hyper", 3, {{"runs", "geometric"}, {"mean_runs", 6}});
  double late = 0, larger_when_late = 0;
  for (in.seed = 0; in.seed < 400; ++in.seed) {
    const auto wanted = method("dp-hyper").next(in, {}).value();
    const auto study = fake::run_study(method("dp-hyper"), in, fake::ordinary_world);
    const auto& winner = reported(study).config;
    const auto place = std::find_if(wanted.begin(), wanted.end(),
                                    [&](const auto& config) { return config.id() == winner.id(); });
    ASSERT_NE(place, wanted.end());
    if (place - wanted.begin() < 3) continue;
    late += 1;
    if (winner.repetition > kRepetitionsPerRelease / 2) larger_when_late += 1;
  }
  ASSERT_GT(late, 50);
  EXPECT_NEAR(larger_when_late / late, 0.5, 4 * 0.5 / std::sqrt(late));
}

TEST(PrivateSelection, PoissonMayDrawNothing) {
  auto in = cell("dp-hyper", 3, {{"runs", "poisson"}, {"mean_runs", 1.01}});
  while (draw(in, "run count", 0) >= 0.3) ++in.seed;
  const auto study = fake::run_study(method("dp-hyper"), in, fake::ordinary_world);
  ASSERT_TRUE(study.conclusion.failure);
  EXPECT_EQ(study.conclusion.failure->kind, "no-run-drawn");
  // That nothing came out is an output: it costs what the selection booked, and the database can
  // say so.
  const auto stored = Composition::from_json(study.conclusion.composition.to_json(), "here").value();
  const auto events = compose(stored, [](const std::string&) -> Result<std::vector<accounting::Event>> {
    return error("no run was made");
  });
  ASSERT_TRUE(events) << events.error().message;
  const auto booked = trial::selection_by_split(method("dp-hyper").selection(in).value());
  EXPECT_EQ(accounting::events_to_json(*events), accounting::events_to_json({.events = booked}));
  EXPECT_GT(accounting::report_epsilon(*events, in.delta)->epsilon, 1);
}

TEST(PrivateSelection, CandidatesThatCostDifferentlyAreABrokenInvariant) {
  const auto in = cell("dp-hyper", 3);
  const auto costs = [&](const trial::TrialConfig& other) {
    return selection_cost(in, selection_rule_of(in, 2), {in.base, other}).has_value();
  };
  auto same = in.base;
  same.privacy.clipping.constant *= 2;
  EXPECT_TRUE(costs(same));
  auto longer = in.base;
  ++longer.steps;
  auto with_mean = in.base;
  with_mean.privacy.asked.feature_mean = trial::FeatureMean{.norm = 1, .noise = 9};
  auto with_probe = in.base;
  with_probe.privacy.probe = trial::ProbePlan{};
  with_probe.privacy.probe->noise = 30;
  for (const auto& other : {longer, with_mean, with_probe}) EXPECT_THROW(costs(other), std::logic_error);
}

TEST(PrivateSelection, SaysThatDrawsWithoutANoiseSeedAreNotHidden) {
  auto in = cell("dp-hyper", 3);
  EXPECT_TRUE(fake::run_study(method("dp-hyper"), in, fake::ordinary_world).conclusion.flags.empty());
  in.base.noise_seed.reset();
  EXPECT_EQ(fake::run_study(method("dp-hyper"), in, fake::ordinary_world).conclusion.flags.size(), 1u);
}

// The score is a release too: one that costs more than the target makes the cell infeasible.
TEST(PrivateSelection, AnExpensiveScoreIsInfeasible) {
  for (const char* name : {"dp-hyper", "linear-scaling"}) {
    const auto study =
        fake::run_study(method(name), cell(name, 0.5, {{"score_noise", 0.5}}), fake::ordinary_world);
    ASSERT_TRUE(study.conclusion.failure) << name;
    EXPECT_EQ(study.conclusion.failure->kind, "infeasible-epsilon") << name;
    EXPECT_NE(study.conclusion.failure->message.find("score_noise"), std::string::npos) << name;
  }
}

TEST(LinearScaling, SweepsThatExceedTheBudgetAreInfeasible) {
  const auto study = fake::run_study(method("linear-scaling"), cell("linear-scaling", 3, {{"share2", 0.9}}),
                                     fake::ordinary_world);
  ASSERT_TRUE(study.conclusion.failure);
  EXPECT_EQ(study.conclusion.failure->kind, "infeasible-epsilon");
  EXPECT_NE(study.conclusion.failure->message.find("share2"), std::string::npos);
}

TEST(LinearScaling, RunsSevenFullBatchesOfSgd) {
  const auto study =
      fake::run_study(method("linear-scaling"), cell("linear-scaling", 3), fake::ordinary_world);
  ASSERT_EQ(study.finished.size(), 7u);
  for (const auto& trial : study.finished) {
    EXPECT_EQ(trial.config.privacy.sampler, trial::Sampler::full_batch);
    EXPECT_EQ(trial.config.privacy.batch_size, 2000);
    EXPECT_EQ(trial.config.optimizer.name, "sgd");
    EXPECT_EQ(double_or(trial.config.optimizer.options, "momentum", 0), 0.9);
  }
  EXPECT_EQ(study.conclusion.composition.rule, Composition::Rule::sum);
  EXPECT_EQ(study.conclusion.composition.trials.size(), 7u);
  EXPECT_FALSE(study.finished.back().config.evaluation.score) << "the final run needs no score";
}

TEST(LinearScaling, AnEmptySearchRangeIsATypedFailure) {
  const auto study = fake::run_study(method("linear-scaling"), cell("linear-scaling", 3, {{"t_min", 200}}),
                                     fake::ordinary_world);
  ASSERT_TRUE(study.conclusion.failure);
  EXPECT_EQ(study.conclusion.failure->kind, "empty-grid");
}

// A surface whose best r falls with epsilon sends the line below the range, one that explodes sends
// it above.
TEST(LinearScaling, LeavingTheRangeIsClampedAndSaid) {
  std::set<std::string> flags;
  for (const double sign : {-1.0, 1.0}) {
    for (std::int64_t seed = 0; seed < 40; ++seed) {
      auto in = cell("linear-scaling", 3, {{"range", "full"}});
      in.seed = in.base.seed = seed;
      const auto world = [&](const trial::TrialConfig& config) {
        auto trial = fake::ordinary_world(config);
        const double r = rate_of(config) * static_cast<double>(config.steps);
        // More epsilon is less noise per step.
        const bool second = config.privacy.gradient_noise / std::sqrt(static_cast<double>(config.steps)) < 7;
        if (config.evaluation.score) trial.released_score = sign * r * (second ? 1 : -1);
        return trial;
      };
      const auto study = fake::run_study(method("linear-scaling"), in, world);
      for (const auto& flag : study.conclusion.flags) flags.insert(flag);
      EXPECT_EQ(study.conclusion.flags.size(), study.conclusion.footnotes.size());
    }
  }
  EXPECT_EQ(flags, (std::set<std::string>{"r capped at r_max", "r floored at r_min"}));
}

TEST(LinearRule, NeverLoopsAndNeverLeavesTheRange) {
  namespace rule = linear_rule;
  rule::Space space{.eta_min = 0.01, .eta_max = 1, .t_min = 5, .t_max = 145};
  int draws = 0;
  const auto uniform = [&draws] { return std::fmod(0.37 * ++draws, 1.0); };
  for (const double r :
       {-20.0, 0.0, 1e-9, 0.3, 7.0, 144.9, 146.0, 1e300, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const auto run = rule::decompose(space, r, uniform);
    EXPECT_GE(run.eta, space.eta_min * (1 - 1e-9)) << r;
    EXPECT_LE(run.eta, space.eta_max * (1 + 1e-9)) << r;
    EXPECT_GE(run.steps, space.t_min) << r;
    EXPECT_LE(run.steps, space.t_max) << r;
    EXPECT_EQ(run.clamp, r > 145 ? "capped_r_max" : r >= 0.05 ? "none" : "floored_r_min") << r;
  }
  // Rounding leaves an r a hair above r_max unclamped; T stays within its bound all the same.
  EXPECT_EQ(rule::decompose(space, space.r_max() * (1 + 5e-13), uniform).steps, space.t_max);
  space.decompose = rule::Decompose::rejection;
  space.eta_grid = {0.02, 0.7};
  space.t_grid = {5, 100};
  space.max_tries = 20;
  draws = 0;
  EXPECT_EQ(rule::decompose(space, 30, uniform).method, "nearest_on_grid");
  EXPECT_EQ(draws, 40);
}

TEST(LinearRule, ACapBelowTheCornerHolds) {
  const linear_rule::Space space{.eta_min = 0.01, .eta_max = 3.2, .t_min = 20, .t_max = 100, .r_cap = 64};
  const auto run = linear_rule::decompose(space, 100, [] { return 0.5; });
  EXPECT_DOUBLE_EQ(run.r, 64);
  EXPECT_EQ(run.steps, 100);
}

TEST(RunCount, HasItsMean) {
  constexpr int kPoints = 200000;
  const auto mean_of = [](RunCount distribution, double parameter) {
    double sum = 0;
    for (int i = 0; i < kPoints; ++i)
      sum += static_cast<double>(run_count(distribution, parameter, (i + 0.5) / kPoints));
    return sum / kPoints;
  };
  // A midpoint rule over the quantile function: off by the tail beyond 1 - 1/kPoints only.
  EXPECT_NEAR(mean_of(RunCount::geometric, geometric_parameter(4)), 4, 1e-3);
  EXPECT_NEAR(mean_of(RunCount::logarithmic, logarithmic_parameter(4)), 4, 1e-3);
  EXPECT_NEAR(mean_of(RunCount::poisson, 4), 4, 1e-3);
}

// The smallest k whose cumulative probability *exceeds* u: at g = 1/2 these are 1/2, 3/4, ...
// exactly.
TEST(RunCount, ABoundaryBelongsToTheNextCount) {
  EXPECT_EQ(run_count(RunCount::geometric, 0.5, std::nextafter(0.5, 0.0)), 1);
  EXPECT_EQ(run_count(RunCount::geometric, 0.5, 0.5), 2);
  EXPECT_EQ(run_count(RunCount::geometric, 0.5, 0.75), 3);
}

TEST(RunCount, EndsAtTheLargestUniform) {
  const double largest = std::nextafter(1.0, 0.0);
  EXPECT_LT(run_count(RunCount::geometric, 0.01, largest), 5000);
  EXPECT_LT(run_count(RunCount::logarithmic, 0.01, largest), 5000);
  EXPECT_LT(run_count(RunCount::poisson, 100, largest), 500);
  // A mean at which exp(-mean) is 0: quantiles still spread around it, by about its root.
  EXPECT_LT(run_count(RunCount::poisson, 2500, 0.1), 2500 - 40);
  EXPECT_GT(run_count(RunCount::poisson, 2500, 0.9), 2500 + 40);
  EXPECT_EQ(pick(largest, 8), 7);
  EXPECT_EQ(pick(0, 8), 0);
}

// False failure below 1e-12 for a fresh seed: 37 numbers of 53 bits.
TEST(Draw, OfNoIndexComesAgain) {
  const auto in = cell("dp-hyper", 3);
  std::set<double> values;
  std::size_t asked = 0;
  for (std::int64_t index = 1; index < std::int64_t{1} << 35; index *= 2) {
    values.insert(draw(in, "candidate", index));
    ++asked;
  }
  for (const std::int64_t index : {0, 3}) values.insert(draw(in, "candidate", index));
  EXPECT_EQ(values.size(), asked + 2);
  // What is drawn for one seed, or for one purpose, says nothing about another.
  for (std::int64_t bit = 0; bit < 62; ++bit) {
    auto other = in;
    other.seed = std::int64_t{1} << bit;
    values.insert(draw(other, "candidate", 0));
    ++asked;
  }
  values.insert(draw(in, "run count", 0));
  EXPECT_EQ(values.size(), asked + 3);
}

TEST(Draw, IsKeyedByEverythingThatMakesACellItself) {
  auto base = cell("dp-hyper", 3);
  std::set<double> values{draw(base, "a", 0), draw(base, "a", 1), draw(base, "b", 0)};
  auto other = base;
  other.panel = "other";
  values.insert(draw(other, "a", 0));
  other = base;
  other.row = "other";
  values.insert(draw(other, "a", 0));
  other = base;
  other.epsilon = 1;
  values.insert(draw(other, "a", 0));
  other = base;
  other.epsilon.reset();
  values.insert(draw(other, "a", 0));
  other = base;
  ++other.seed;
  values.insert(draw(other, "a", 0));
  other = base;
  other.base.noise_seed = "other";
  values.insert(draw(other, "a", 0));
  other = base;
  other.base.noise_seed.reset();
  values.insert(draw(other, "a", 0));
  EXPECT_EQ(values.size(), 10u);
  EXPECT_EQ(draw(base, "a", 0), draw(base, "a", 0));
  for (const double value : values) {
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 1);
  }
}

accounting::Event gaussian(double sigma, const std::string& split) {
  auto event = accounting::poisson_gaussian(1, sigma, 1);
  event.split = split;
  return event;
}

TEST(Compose, FollowsItsRule) {
  const auto executed = [](const std::string& id) -> Result<std::vector<accounting::Event>> {
    if (id == "missing") return error("no trial missing");
    return std::vector{gaussian(2, "private_train"), gaussian(30, "private_validation")};
  };
  Composition composition{.rule = Composition::Rule::none, .trials = {"a", "b"}};
  EXPECT_TRUE(compose(composition, executed)->events.empty());
  composition.rule = Composition::Rule::trial;
  EXPECT_EQ(compose(composition, executed)->events.size(), 2u);
  composition.rule = Composition::Rule::sum;
  EXPECT_EQ(compose(composition, executed)->events.size(), 4u);
  composition.trials.clear();
  EXPECT_FALSE(compose(composition, executed));
  composition.trials = {"missing"};
  EXPECT_FALSE(compose(composition, executed));
}

// A selection is priced on each split by itself: the score's cost does not add to the gradients'.
TEST(Compose, PricesASelectionOnEachSplit) {
  const Composition composition{.rule = Composition::Rule::selection,
                                .trials = {"a"},
                                .selection = selection_of(RunCount::geometric, 4)};
  const auto both = compose(composition, [](const std::string&) -> Result<std::vector<accounting::Event>> {
    return std::vector{gaussian(2, "private_train"), gaussian(30, "private_validation")};
  });
  const auto alone = compose(composition, [](const std::string&) -> Result<std::vector<accounting::Event>> {
    return std::vector{gaussian(2, "private_train")};
  });
  ASSERT_EQ(both->events.size(), 2u);
  const auto of_both = accounting::epsilon_rdp(*both, 1e-5);
  const auto of_alone = accounting::epsilon_rdp(*alone, 1e-5);
  ASSERT_TRUE(of_both) << of_both.error().message;
  EXPECT_DOUBLE_EQ(of_both->epsilon, of_alone->epsilon);
  const auto single = accounting::epsilon_rdp({.events = {gaussian(2, "private_train")}}, 1e-5);
  EXPECT_GT(of_alone->epsilon, single->epsilon) << "the selection costs nothing";
}

TEST(Compose, IsStoredAndReadBack) {
  const Composition composition{.rule = Composition::Rule::selection,
                                .trials = {"a"},
                                .selection = selection_of(RunCount::logarithmic, 4)};
  const auto again = Composition::from_json(composition.to_json(), "composition");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(canonical_json(again->to_json()), canonical_json(composition.to_json()));
  EXPECT_EQ(again->selection->eta, 0);
  EXPECT_FALSE(Composition::from_json({{"rule", "cheapest"}, {"trials", json::array{}}}, "composition"));
  EXPECT_FALSE(Composition::from_json({{"rule", "sum"}}, "composition"));
  const auto unbooked =
      Composition::from_json({{"rule", "selection"}, {"trials", json::array{}}}, "composition");
  ASSERT_TRUE(unbooked);
  EXPECT_FALSE(compose(*unbooked, [](const std::string&) { return std::vector<accounting::Event>{}; }));
}

}  // namespace
}  // namespace hyfreedp::baselines
