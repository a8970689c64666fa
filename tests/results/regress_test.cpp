// Nightly comparisons of nights whose truth is known: what is the same, what moved, and how often
// chance cries wolf.
#include "results/regress/regress.h"

#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/json.h"
#include "results/regress/regress_writers.h"
#include "results/store/records.h"
#include "tests/results/simulated_nights.h"

namespace hyfreedp::results {
namespace regress_test {

using simulated::Change;
using simulated::Source;
using simulated::World;
using ::testing::HasSubstr;
using ::testing::Not;

const RegressFinding* find(const RegressReport& report, const std::string& row, const std::string& what) {
  for (const auto& cell : report.cells) {
    if (cell.row != row) continue;
    for (const auto& finding : cell.findings) {
      if (finding.what == what) return &finding;
    }
  }
  return nullptr;
}

RegressVerdict verdict(const RegressReport& report, const std::string& what,
                       const std::string& row = "row-0") {
  const auto* finding = find(report, row, what);
  EXPECT_NE(finding, nullptr) << what;
  return finding == nullptr ? RegressVerdict::skipped : finding->verdict;
}

RegressOptions without_bits() {
  RegressOptions options;
  options.hashes = false;
  return options;
}

// Two nights of one noise seed whose runs differ by rounding alone.
World close() {
  World world;
  world.own_share = 1e-4;
  return world;
}

TEST(Nights, EqualBitsAreTheSame) {
  const auto night = Source(World{}).night();
  const auto report = compare_nights(night, night);
  EXPECT_EQ(report.verdict(), RegressVerdict::same);
  EXPECT_EQ(report.exit_code(), 0);
  EXPECT_EQ(verdict(report, "bits"), RegressVerdict::same);
  EXPECT_EQ(verdict(report, "accuracy"), RegressVerdict::same);
}

TEST(Nights, OneBitIsFoundAndSaidWhere) {
  auto reference = Source(World{}).night();
  for (auto& run : reference.cells[2].runs) run.hashes = {"a", "b", "c"};
  auto tonight = reference;
  tonight.cells[2].runs[1].hashes[1] = "x";
  const auto report = compare_nights(tonight, reference);
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_EQ(report.cells.front().row, "row-2") << "worst first";
  EXPECT_THAT(find(report, "row-2", "bits")->text, HasSubstr("seed 1 from step 1 on"));
  EXPECT_EQ(compare_nights(tonight, reference, {}, without_bits()).exit_code(), 0);
}

TEST(Nights, BitsAreComparedOnlyWhereTheyCanBeEqual) {
  const auto reference = Source(World{}).night();
  const auto reason = [&](const std::function<void(NightRun&)>& change) {
    auto tonight = reference;
    for (auto& cell : tonight.cells) {
      for (auto& run : cell.runs) {
        run.hashes = {"other"};
        change(run);
      }
    }
    const auto report = compare_nights(tonight, reference);
    EXPECT_EQ(verdict(report, "bits"), RegressVerdict::skipped);
    return find(report, "row-0", "bits")->text;
  };
  EXPECT_THAT(reason([](NightRun& run) { run.noise_seed.clear(); }), HasSubstr("no noise seed"));
  EXPECT_THAT(reason([](NightRun& run) { run.noise_seed = "t"; }), HasSubstr("another noise seed"));
  EXPECT_THAT(reason([](NightRun& run) { run.machine = "m2"; }), HasSubstr("build, device"));
  EXPECT_THAT(reason([](NightRun& run) { run.setting = simulated::setting_at("2"); }),
              HasSubstr("another setting"));
}

TEST(Nights, RoundingIsTheSame) {
  Source source(close());
  const auto reference = source.night();
  const auto report = compare_nights(source.night(), reference, {}, without_bits());
  EXPECT_EQ(report.exit_code(), 0) << terminal_regress(report, {});
  EXPECT_EQ(verdict(report, "update norm"), RegressVerdict::same);
  EXPECT_THAT(find(report, "row-0", "accuracy")->test, HasSubstr("paired t, 6 seeds"));
}

// Power: each change is caught in 20 of 20 nights, with other noise than the reference's, hashes
// off. A change whose rate were 90 % would pass this once in eight times; the rates are measured on
// real nights in tests/regress.
TEST(Nights, PlantedChangesAreCaughtByWhatIsMeantForThem) {
  struct Case {
    Change change;
    std::string caught_by;
    RegressVerdict verdict;
  };
  const std::vector<Case> cases{{{.eta = 1.2}, "update norm", RegressVerdict::changed},
                                {{.noise = 1.1}, "noise", RegressVerdict::regressed},
                                {{.frozen = true}, "update of fc1.weight", RegressVerdict::changed},
                                {{.accuracy = -4}, "accuracy", RegressVerdict::regressed}};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world;
    world.seed = seed;
    Source source(world);
    auto reference = source.night();
    for (const auto& tested : cases) {
      auto tonight = source.night(tested.change);
      for (auto& cell : tonight.cells) {
        for (auto& run : cell.runs) run.noise_seed = "other";
      }
      const auto report = compare_nights(tonight, reference, {}, without_bits());
      EXPECT_EQ(report.exit_code(), 1);
      EXPECT_EQ(verdict(report, tested.caught_by), tested.verdict) << seed << "\n"
                                                                   << terminal_regress(report, {});
    }
  }
}

TEST(Nights, BetterAccuracyIsImprovedAndOtherNoiseIsNever) {
  Source source(close());
  const auto reference = source.night();
  const auto better = compare_nights(source.night({.accuracy = 4}), reference, {}, without_bits());
  EXPECT_EQ(verdict(better, "accuracy"), RegressVerdict::improved);
  EXPECT_EQ(better.exit_code(), 0);
  const auto quieter = compare_nights(source.night({.noise = 0.9}), reference, {}, without_bits());
  EXPECT_EQ(verdict(quieter, "noise"), RegressVerdict::regressed);
}

// A method was made better: its bits are others, and nothing of it is worse.
TEST(Nights, ABetterCellIsChangedAndNotRegressed) {
  const auto reference = Source(World{}).night();
  const auto with = [&](double points) {
    auto tonight = reference;
    for (auto& run : tonight.cells[0].runs) {
      run.hashes = {"other"};
      *run.accuracy += points;
      run.norms["update norm"] *= 2;
    }
    return compare_nights(tonight, reference);
  };
  const auto better = with(4);
  EXPECT_EQ(better.exit_code(), 0) << terminal_regress(better, {});
  EXPECT_EQ(better.count(RegressVerdict::regressed), 0U);
  EXPECT_EQ(verdict(better, "bits"), RegressVerdict::changed);
  EXPECT_EQ(verdict(better, "accuracy"), RegressVerdict::improved);
  EXPECT_THAT(terminal_regress(better, {}),
              HasSubstr("nightly: changed for the better (cells: 1 changed, 11 same)"));
  EXPECT_THAT(junit_regress(better), HasSubstr("failures=\"0\" errors=\"0\""));
  // Neither better nor worse: somebody must look, and nothing is called worse.
  const auto other = with(0);
  EXPECT_EQ(other.exit_code(), 1);
  EXPECT_EQ(other.count(RegressVerdict::regressed), 0U);
  EXPECT_THAT(junit_regress(other), HasSubstr("<failure type=\"changed\" message=\"bits"));
  const auto worse = with(-4);
  EXPECT_EQ(worse.exit_code(), 1);
  EXPECT_EQ(verdict(worse, "accuracy"), RegressVerdict::regressed);
  EXPECT_EQ(worse.verdict(), RegressVerdict::regressed);
}

// One night's spec has other seeds than the other's.
TEST(Nights, OnlySeedsOfBothSpecsAreCompared) {
  World world;
  world.seeds = 8;
  const auto all = Source(world).night();
  const auto with = [&](std::int64_t from, std::int64_t to) {
    auto night = all;
    for (auto& cell : night.cells) {
      std::erase_if(cell.runs, [&](const NightRun& run) { return run.seed < from || run.seed >= to; });
      for (auto seed = from; seed < to; ++seed) cell.seeds.insert(seed);
    }
    return night;
  };
  auto tonight = with(0, 6), reference = with(2, 8);
  for (auto& cell : tonight.cells) {  // of a seed that the reference has not
    cell.runs[0].epsilon = 9;
    cell.runs[0].accuracy = 3;
    cell.runs[1].state = NightRun::State::failed;
    cell.runs[1].failure_kind = "diverged";
  }
  for (const auto& options : {RegressOptions{}, without_bits()}) {
    const auto report = compare_nights(tonight, reference, {}, options);
    EXPECT_EQ(report.exit_code(), 0) << terminal_regress(report, {});
    EXPECT_THAT(report.notes, ::testing::Contains("Seeds that only tonight has are not compared: 0, 1."));
    EXPECT_THAT(report.notes,
                ::testing::Contains("Seeds that only the reference has are not compared: 6, 7."));
  }
  tonight.cells[0].runs.pop_back();  // planned and not run
  EXPECT_EQ(compare_nights(tonight, reference).exit_code(), 2);
  const auto apart = compare_nights(with(0, 3), with(3, 6));
  EXPECT_EQ(apart.exit_code(), 2);
  EXPECT_THAT(find(apart, "row-0", "values")->text, HasSubstr("no seed has a value in either night"));
}

// Nothing was compared, so nothing is the same.
TEST(Nights, WhatFailedAsBeforeIsNotTheSame) {
  const auto good = Source(World{}).night();
  const auto failed = [&](std::size_t runs, const std::string& kind) {
    auto night = good;
    for (std::size_t i = 0; i < runs; ++i) {
      auto& run = night.cells[0].runs[i];
      run.state = NightRun::State::failed;
      run.failure_kind = kind;
      run.accuracy = run.loss = run.epsilon = std::nullopt;
      run.hashes.clear();
      run.norms.clear();
    }
    return night;
  };
  for (const char* kind : {"invalid-config", "diverged", "killed"}) {
    const auto night = failed(6, kind);
    const auto report = compare_nights(night, night);
    EXPECT_EQ(report.exit_code(), 2) << terminal_regress(report, {});
    EXPECT_EQ(verdict(report, "values"), RegressVerdict::unclear);
    EXPECT_THAT(
        find(report, "row-0", "values")->text,
        HasSubstr("seeds 0, 1, 2, 3, 4, 5 failed in the reference and failed again: " + std::string(kind)));
    EXPECT_THAT(find(report, "row-0", "values")->text, HasSubstr("no seed has a value in either night"));
  }
  EXPECT_EQ(compare_nights(failed(1, "killed"), failed(1, "killed")).exit_code(), 2);
  EXPECT_EQ(compare_nights(failed(1, "diverged"), failed(1, "diverged")).exit_code(), 0)
      << "chance, as often as before";
  EXPECT_EQ(compare_nights(good, failed(6, "killed")).exit_code(), 0) << "mended";
}

// Twelve cells whose accuracies differ by these, seed by seed; the margin is half a point.
RegressReport of_differences(const std::vector<double>& differences) {
  World world;
  world.seeds = static_cast<std::int64_t>(differences.size());
  const auto reference = Source(world).night();
  auto tonight = reference;
  for (auto& cell : tonight.cells) {
    for (std::size_t i = 0; i < differences.size(); ++i) *cell.runs[i].accuracy += differences[i];
  }
  return compare_nights(tonight, reference, {}, without_bits());
}

TEST(Nights, TooFewSeedsCannotTellAndSayHowMany) {
  const auto report = of_differences({0.6, -0.5});
  EXPECT_EQ(report.exit_code(), 2);
  const auto* finding = find(report, "row-0", "accuracy");
  ASSERT_EQ(finding->verdict, RegressVerdict::unclear) << terminal_regress(report, {});
  EXPECT_GT(finding->seeds_needed.value(), 5);
  EXPECT_LT(finding->seeds_needed.value(), 100);
  EXPECT_THAT(finding->text,
              HasSubstr(" seeds would tell with probability 0.8, were the change what was seen"));
}

// A change near the margin is not told by as few seeds as an absent one would be.
TEST(Nights, SeedsThatWouldTellAreMoreThanWereRun) {
  for (const double near : {0.4, 0.45, 0.499, 0.501, 0.55, 0.6}) {
    const auto report = of_differences({near - 0.1, near, near + 0.1, near, near - 0.1, near + 0.1});
    const auto* finding = find(report, "row-0", "accuracy");
    if (finding->verdict != RegressVerdict::unclear) continue;
    if (finding->seeds_needed) {
      EXPECT_GT(*finding->seeds_needed, 6) << near << ": " << finding->text;
    } else {
      EXPECT_THAT(finding->text, HasSubstr("no feasible number of seeds would tell (more than 1000)"))
          << near;
    }
  }
  const auto half = of_differences({0.35, 0.5, 0.6, 0.5, 0.4, 0.55});
  const auto* close_by = find(half, "row-0", "accuracy");
  ASSERT_EQ(close_by->verdict, RegressVerdict::unclear) << close_by->text;
  const auto wild = of_differences({40, -39, 30, -31, 20, -20});
  EXPECT_THAT(find(wild, "row-0", "accuracy")->text, HasSubstr("no feasible number of seeds"));
  EXPECT_FALSE(find(wild, "row-0", "accuracy")->seeds_needed);
}

TEST(Nights, OneSeedTellsNothing) {
  World world;
  world.seeds = 1;
  Source source(world);
  const auto reference = source.night();
  const auto report = compare_nights(source.night(), reference, {}, without_bits());
  EXPECT_EQ(verdict(report, "accuracy"), RegressVerdict::unclear);
  EXPECT_EQ(compare_nights(reference, reference).exit_code(), 0) << "equal bits need no second seed";
}

TEST(Nights, EpsilonAndLostValuesInvolveNoChance) {
  const auto reference = Source(World{}).night();
  auto tonight = reference;
  tonight.cells[0].runs[3].epsilon = 3.2;
  tonight.cells[1].runs[0].state = NightRun::State::failed;
  tonight.cells[1].runs[0].failure_kind = "internal";
  tonight.cells[2].runs[0].state = NightRun::State::failed;
  tonight.cells[2].runs[0].failure_kind = "out-of-memory";
  tonight.cells[3].runs[0].state = NightRun::State::open;
  tonight.cells[4].runs.clear();
  tonight.cells.pop_back();
  const auto report = compare_nights(tonight, reference);
  EXPECT_EQ(verdict(report, "epsilon"), RegressVerdict::regressed);
  EXPECT_EQ(verdict(report, "values", "row-1"), RegressVerdict::regressed);
  EXPECT_EQ(verdict(report, "values", "row-2"), RegressVerdict::unclear);
  EXPECT_EQ(verdict(report, "values", "row-3"), RegressVerdict::unclear);
  EXPECT_EQ(verdict(report, "values", "row-4"), RegressVerdict::unclear);
  EXPECT_EQ(verdict(report, "values", "row-11"), RegressVerdict::unclear);
  tonight.cells[0].runs[3].epsilon = 2.999;
  EXPECT_EQ(verdict(compare_nights(tonight, reference), "epsilon"), RegressVerdict::same);
}

// A reference of an unfinished folder says nothing of what it did not run.
TEST(Nights, WhatTheReferenceDidNotRunIsNotTheSame) {
  const auto tonight = Source(World{}).night();
  auto reference = tonight;
  reference.cells[0].runs[2].state = NightRun::State::open;
  reference.cells[1].runs.erase(reference.cells[1].runs.begin());
  reference.cells[1].seeds = {0, 1};
  const auto report = compare_nights(tonight, reference);
  EXPECT_EQ(verdict(report, "values"), RegressVerdict::unclear);
  EXPECT_EQ(verdict(report, "values", "row-1"), RegressVerdict::unclear);
  EXPECT_NE(report.exit_code(), 0);
}

TEST(Nights, DivergedRunsAreJudgedByChance) {
  World world;
  world.cells = 1;
  world.seeds = 12;
  const auto reference = Source(world).night();
  const auto diverged = [&](std::size_t runs) {
    auto tonight = reference;
    for (std::size_t i = 0; i < runs; ++i) {
      tonight.cells[0].runs[i].state = NightRun::State::failed;
      tonight.cells[0].runs[i].failure_kind = "diverged";
    }
    return compare_nights(tonight, reference);
  };
  EXPECT_EQ(verdict(diverged(0), "failures"), RegressVerdict::same);
  EXPECT_EQ(verdict(diverged(1), "failures"), RegressVerdict::unclear);
  EXPECT_EQ(verdict(diverged(11), "failures"), RegressVerdict::regressed);
}

// Two nights of one noise seed, `runs` of whose six seeds diverge tonight in one cell of twelve.
Night with_diverged(const Night& reference, std::size_t runs) {
  auto tonight = reference;
  for (std::size_t i = 0; i < runs; ++i) {
    auto& run = tonight.cells[0].runs[i];
    run.state = NightRun::State::failed;
    run.failure_kind = "diverged";
    run.lost_settings = {simulated::setting_at("2"), run.setting};
    run.setting.clear();
    run.hashes.clear();
    run.accuracy = run.loss = std::nullopt;
  }
  return tonight;
}

// The same noise on the same machine gives the same run: what had a value then cannot diverge by
// chance.
TEST(Nights, ARunThatDivergesUnderTheSameNoiseIsNotTheSameBitForBit) {
  const auto reference = Source(World{}).night();
  const auto report = compare_nights(with_diverged(reference, 3), reference);
  EXPECT_EQ(report.exit_code(), 1) << terminal_regress(report, {});
  EXPECT_EQ(verdict(report, "bits"), RegressVerdict::regressed);
  EXPECT_THAT(find(report, "row-0", "bits")->text,
              HasSubstr("3 of 6 runs are not the same bit for bit: seed 0 diverged"));
  EXPECT_THAT(find(report, "row-0", "accuracy")->text, HasSubstr("in the 3 seeds that have a value in both"));
  EXPECT_THAT(junit_regress(report), HasSubstr("failures=\"1\""));
  const auto judged = [&](const std::function<void(NightRun&)>& change, const RegressOptions& options) {
    auto tonight = with_diverged(reference, 3);
    for (std::size_t i = 0; i < 3; ++i) change(tonight.cells[0].runs[i]);
    return compare_nights(tonight, reference, {}, options).exit_code();
  };
  EXPECT_EQ(judged([](NightRun&) {}, without_bits()), 2);
  EXPECT_EQ(judged([](NightRun& run) { run.noise_seed = "t"; }, {}), 2);
  EXPECT_EQ(judged([](NightRun& run) { run.machine = "m2"; }, {}), 2);
  EXPECT_EQ(judged([](NightRun& run) { run.lost_settings = {simulated::setting_at("2")}; }, {}), 2);
}

TEST(Nights, ACellThatLosesAllItsSeedsHasRegressedWhateverTheNoise) {
  const auto reference = Source(World{}).night();
  auto tonight = with_diverged(reference, 6);
  for (auto& run : tonight.cells[0].runs) run.noise_seed = "other";
  const auto report = compare_nights(tonight, reference, {}, without_bits());
  EXPECT_EQ(report.exit_code(), 1) << terminal_regress(report, {});
  EXPECT_EQ(verdict(report, "values"), RegressVerdict::regressed);
  EXPECT_THAT(find(report, "row-0", "values")->text, HasSubstr("all 6 seeds diverged; 6 of 6 had a value"));
  EXPECT_EQ(report.cells.front().row, "row-0");
  // One that is left, or a row that diverged mostly before, may be chance.
  EXPECT_EQ(compare_nights(with_diverged(reference, 5), reference, {}, without_bits()).exit_code(), 2);
  EXPECT_EQ(compare_nights(tonight, with_diverged(reference, 2), {}, without_bits()).exit_code(), 1);
  EXPECT_NE(compare_nights(tonight, with_diverged(reference, 3), {}, without_bits()).exit_code(), 1);
  tonight.cells[0].runs[0].failure_kind = "killed";
  EXPECT_EQ(compare_nights(tonight, reference, {}, without_bits()).exit_code(), 2);
}

TEST(Nights, NormsAreComparedAtOneSettingOnly) {
  auto reference = Source(World{}).night();
  auto tonight = Source(World{}).night({.eta = 2});
  for (auto& run : tonight.cells[0].runs) run.setting = simulated::setting_at("2");
  const auto report = compare_nights(tonight, reference, {}, without_bits());
  EXPECT_EQ(verdict(report, "update norm"), RegressVerdict::skipped);
  EXPECT_EQ(verdict(report, "update norm", "row-1"), RegressVerdict::changed);
}

AbTiming timing(double ratio, double sd, std::uint64_t seed, std::size_t rounds = 12) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, sd);
  AbTiming timing{.what = "speed", .panel = "p", .row = "row-0", .epsilon = 3, .rounds = {}};
  for (std::size_t i = 0; i < rounds; ++i) {
    const double load = 1 + 0.5 * static_cast<double>(i % 3);  // of the machine: of both alike
    timing.rounds.push_back({ratio * load * std::exp(normal(random)), load});
  }
  return timing;
}

TEST(Nights, SlowerStepsAreCaughtAndLoadIsNot) {
  const auto night = Source(World{}).night();
  int caught = 0, cried = 0, quiet = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    caught += compare_nights(night, night, {timing(1.2, 0.03, seed)}).exit_code() == 1;
    const auto clean = compare_nights(night, night, {timing(1.0, 0.03, seed)}).exit_code();
    cried += clean == 1;
    quiet += clean == 0;
  }
  EXPECT_GE(caught, 95);
  EXPECT_EQ(cried, 0);
  EXPECT_GE(quiet, 95);
  EXPECT_EQ(verdict(compare_nights(night, night, {timing(0.5, 0.03, 1)}), "speed"), RegressVerdict::improved);
}

TEST(Nights, StoredSecondsNeverRaiseAnAlarm) {
  const auto reference = Source(World{}).night();
  auto tonight = reference;
  const auto slower = [&](double factor) {
    for (auto& cell : tonight.cells) {
      for (auto& run : cell.runs) run.seconds = factor;
    }
    return compare_nights(tonight, reference);
  };
  EXPECT_EQ(slower(1.5).exit_code(), 0);
  EXPECT_EQ(slower(3).exit_code(), 2);
  for (auto& cell : tonight.cells) {
    for (auto& run : cell.runs) run.machine = "another";
  }
  EXPECT_THAT(markdown_regress(slower(3)), HasSubstr("another machine"));
}

struct CleanNights {
  int alarms = 0;
  int same = 0;
  std::size_t tests = 0;
};

CleanNights clean_nights(int nights, const World& world, const RegressOptions& options, bool other_noise) {
  CleanNights counted;
  Source source(world);
  for (int i = 0; i < nights; ++i) {
    const auto reference = source.night();
    auto tonight = source.night();
    for (auto& cell : tonight.cells) {
      for (auto& run : cell.runs) {
        if (other_noise) run.noise_seed = "other";
      }
    }
    const auto report = compare_nights(tonight, reference, {}, options);
    counted.alarms += report.exit_code() == 1 || report.count(RegressVerdict::improved) > 0;
    counted.same += report.exit_code() == 0;
    counted.tests = report.tests;
  }
  return counted;
}

// With margins of nothing every test stands at the edge of its null, where false alarms are
// likeliest: of nights of 5 % each 300 give more than 31 with probability 5e-5, 100 more than 15
// with 4e-5, and (HYFREEDP_SLOW=1) 1000 more than 77 with 1e-4. Without the adjustment nearly every
// night cries wolf.
TEST(CleanNights, RaiseNoMoreAlarmsThanStatedAtTheEdgeOfTheNull) {
  const bool is_slow = std::getenv("HYFREEDP_SLOW") != nullptr;
  const int nights = is_slow ? 1000 : 300;
  auto options = without_bits();
  options.margin = {.accuracy = 1e-9, .loss = 1e-9, .norm = 1 + 1e-9, .noise = 1 + 1e-9};
  for (const bool other_noise : {false, true}) {
    const auto counted = clean_nights(nights, World{}, options, other_noise);
    std::cout << counted.alarms << " of " << nights << " clean nights of " << counted.tests
              << " tests raised an alarm, margins nil, "
              << (other_noise ? "other noise (Welch)" : "one noise seed (paired)") << "\n";
    EXPECT_LE(counted.alarms, is_slow ? 77 : 31);
    EXPECT_GE(counted.alarms, is_slow ? 10 : 2) << "a test that never raises an alarm sees nothing";
    EXPECT_GT(counted.tests, 100U);
  }
  options.control = FalseAlarmControl::fdr;  // where nothing is true, the same as familywise
  EXPECT_LE(clean_nights(is_slow ? 300 : 100, World{}, options, true).alarms, is_slow ? 31 : 15);
}

TEST(CleanNights, AtTheirMarginsAreQuiet) {
  const auto counted = clean_nights(300, World{}, without_bits(), true);
  EXPECT_LE(counted.alarms, 2);
  EXPECT_EQ(clean_nights(200, close(), without_bits(), false).same, 200);
}

TEST(RegressWriters, SayWhatMovedAndWhetherChanceExplainsIt) {
  Source source(close());
  const auto reference = source.night();
  auto tonight = source.night({.eta = 1.2});
  tonight.cells[0].title = "<&|>";
  const auto report = compare_nights(tonight, reference, {}, without_bits());
  const auto text = terminal_regress(report, {.width = 100, .colour = false});
  EXPECT_THAT(text, HasSubstr("nightly: changed (cells: 12 changed)"));
  EXPECT_THAT(text, HasSubstr("update norm × 1.2"));
  EXPECT_THAT(text, HasSubstr("chance does not explain it"));
  EXPECT_THAT(text, HasSubstr("at most 0.05 (Holm"));
  EXPECT_THAT(text, HasSubstr("--no-hashes"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(terminal_regress(report, {.width = 100, .colour = true}), HasSubstr("\x1b[33mchanged"));
  const auto markdown = markdown_regress(report);
  EXPECT_THAT(markdown, HasSubstr("| changed | p, row-0, epsilon 3 | update norm |"));
  // What moved is read at once, everything else on a click.
  EXPECT_LT(markdown.find("- **changed**: update norm × 1."), markdown.find("<details>"));
  EXPECT_THAT(markdown, HasSubstr("<details><summary>The same or not compared: "));
  EXPECT_GT(markdown.find("| same |"), markdown.find("<summary>The same"));
  const auto xml = junit_regress(report);
  EXPECT_THAT(xml, HasSubstr("<failure type=\"changed\" message=\"update norm × 1.2"));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"nightly.p\" name=\"p, row-0, epsilon 3: accuracy\""));
}

TEST(RegressWriters, AQuietNightIsOneLine) {
  const auto night = Source(World{}).night();
  const auto report = compare_nights(night, night);
  EXPECT_TRUE(report.is_quiet());
  EXPECT_THAT(terminal_regress(report, {}),
              ::testing::MatchesRegex("nightly: same \\(cells: 12 same\\); 72 runs are the same bit for bit, "
                                      "[0-9]+ tests, false alarms at most 0.05 a night\n"));
  const auto markdown = markdown_regress(report);
  EXPECT_THAT(markdown, ::testing::StartsWith("# nightly: same (cells: 12 same)\n\n<details>"));
  const auto unhashed = terminal_regress(compare_nights(night, night, {}, without_bits()), {});
  EXPECT_EQ(std::count(unhashed.begin(), unhashed.end(), '\n'), 1);
}

// What could not be told must not pass for green: JUnit's skipped is what nobody wanted to run.
TEST(RegressWriters, JUnitCallsWhatCouldNotBeToldAnError) {
  const auto reference = Source(World{}).night();
  auto tonight = reference;
  tonight.cells.erase(tonight.cells.begin());
  const auto xml = junit_regress(compare_nights(tonight, reference));
  EXPECT_THAT(xml, HasSubstr("failures=\"0\" errors=\"1\" skipped=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<error type=\"could not tell\" message=\"values the reference has it"));
}

TEST(RegressOptions, AreReadFromTheStoredSpec) {
  const auto read = [](const char* text) {
    SpecRecord record;
    record.resolved = parse_json(text, "test")->as_object();
    return spec_of(record);
  };
  EXPECT_FALSE(read("{}")->regress);
  const auto options = read(R"({"regress": {"margin": {"accuracy": 2, "speed": 1.3},
      "false_alarms_per_night": 0.01, "control": "fdr", "hashes": false}})")
                           ->regress;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->margin.accuracy, 2);
  EXPECT_EQ(options->margin.speed, 1.3);
  EXPECT_EQ(options->margin.norm, RegressMargins{}.norm);
  EXPECT_EQ(options->false_alarms_per_night, 0.01);
  EXPECT_EQ(options->control, FalseAlarmControl::fdr);
  EXPECT_FALSE(options->hashes);
  EXPECT_FALSE(read(R"({"regress": 3})"));
}

}  // namespace regress_test
}  // namespace hyfreedp::results
