// `seeds: {until: ...}`: a comparison trains as many seeds as it needs, through interruptions,
// failures and private selection, and what it spent is that of all seeds that it might have
// trained.
#include "results/table/sequential_seeds.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>

#include "harness/base/text.h"
#include "harness/runner/execute/budget.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/execute/study_request.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release_record.h"
#include "results/provenance/export.h"
#include "results/provenance/slice.h"
#include "results/regress/night.h"
#include "results/store/states.h"
#include "results/table/table_model.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace sequential_seeds_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr double kDelta = 1e-5;
constexpr double kRateA = 5e-2;
constexpr int kTo = 8;
constexpr auto kNever = [] { return false; };

const std::string kRows = R"(
  - {id: a, method: fixed-rate, options: {lr: 5e-2}}
  - {id: b, method: fixed-rate, options: {lr: 2e-2}}
)";
const std::string kThird = "  - {id: c, method: fixed-rate, options: {lr: 1e-2}}\n";
const std::string kEither =
    "{until: paired interval of a - b is narrower than 2 or excludes 0, from: 3, to: 8}";

std::string spec_of(const std::string& rows, const std::string& seeds = kEither,
                    const std::string& epsilons = "[3, inf]", const std::string& noise_seed = "s") {
  return "name: seq\n" + (noise_seed.empty() ? "" : "noise_seed: " + noise_seed + "\n") + R"(
dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
model: linear
delta: 1e-5
train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
evaluate: {every: 0}
seeds: )" +
         seeds + "\nepsilon: " + epsilons + "\nrows:" + rows;
}
const std::string kSpec = spec_of(kRows + kThird);

// Percentage points by which row `a` is better, beside what all rows share.
using Gap = std::function<double(const trial::TrialConfig&)>;

FakeExecutor worker(Gap gap) {
  FakeExecutor executor;
  executor.test_accuracy = [gap](const trial::TrialConfig& config) {
    const bool is_a = double_or(config.controller.options, "lr", 0) == kRateA;
    return 0.5 + 0.001 * static_cast<double>(config.seed) + (is_a ? 0.01 * gap(config) : 0);
  };
  return executor;
}
double wiggle(const trial::TrialConfig& config) { return config.seed % 2 == 0 ? 1 : -1; }
// With noise `a` is 20 points better, give or take one; without it, neither is.
double large_with_noise(const trial::TrialConfig& config) {
  return (config.privacy.is_private ? 20 : 0) + wiggle(config) * (config.privacy.is_private ? 1 : 5);
}

// Seeds that have a result, by row and column.
std::set<std::int64_t> trained(World& world, const std::string& row, std::optional<double> epsilon) {
  std::set<std::int64_t> seeds;
  for (const auto& study : world.store().studies("seq").value()) {
    if (study.row == row && study.epsilon_target == epsilon && !study.reported_trial.empty())
      seeds.insert(study.seed);
  }
  return seeds;
}
std::set<std::int64_t> first(int count) {
  std::set<std::int64_t> seeds;
  for (int seed = 0; seed < count; ++seed) seeds.insert(seed);
  return seeds;
}

double odometer(World& world, const OdometerOptions& options = {}) {
  const auto read = odometer_of(world.store(), world.out(), options).value();
  EXPECT_THAT(read.data, SizeIs(1));
  return read_odometer(read.data.at(0), kDelta).value().total.epsilon;
}
// Of the same rows with all seeds, trained.
double odometer_of_all(const std::string& rows, const std::string& epsilons = "[3, inf]",
                       const std::string& noise_seed = "s") {
  World world;
  auto executor = worker(wiggle);
  world.run(spec_of(rows, "[0, 1, 2, 3, 4, 5, 6, 7]", epsilons, noise_seed), executor);
  return odometer(world);
}

std::string footnotes(World& world) {
  return join(results::build_table(world.store(), "seq").value().footnotes, "\n");
}

TEST(SequentialSeeds, EachColumnStopsByItself) {
  World world;
  auto executor = worker(large_with_noise);
  const auto report = world.run(kSpec, executor);
  EXPECT_FALSE(report.failed_unexpectedly());
  EXPECT_EQ(report.held, 0u);
  for (const auto* row : {"a", "b", "c"}) {
    EXPECT_EQ(trained(world, row, 3.0), first(4))
        << row << ": three seeds are too few for an interval at 95 %";
    EXPECT_EQ(trained(world, row, {}), first(kTo)) << row;
  }
  EXPECT_THAT(executor.submitted, SizeIs(3 * (4 + kTo)));
  EXPECT_THAT(footnotes(world),
              AllOf(HasSubstr("Seeds: from 3 to 8, until the paired interval of a - b is narrower than 2 or "
                              "excludes 0, in percentage points"),
                    HasSubstr("a - b. ε 3: stopped after 4 of 8 seeds (2 looks): the interval is 15.35 to "
                              "24.65, without 0; Non-private: all 8 seeds were trained (6 looks) and nothing "
                              "is decided")));
  const auto again = world.run(kSpec, executor);
  EXPECT_EQ(again.known_before, again.studies);
  EXPECT_THAT(executor.submitted, SizeIs(3 * (4 + kTo)));
}

// Who cancels has seen what the seeds released that were trained.
TEST(SequentialSeeds, ThatAreCancelledStayChargedAsAllThatTheSpecAllows) {
  for (const std::string& rows :
       {kRows, kThird + "  - {id: a, method: fixed-rate, options: {lr: 5e-2}}\n" +
                   "  - {id: b, method: linear-scaling, options: {t_min: 2, t_max: 6, r_max: 8}}\n"}) {
    const double all = odometer_of_all("\n" + rows, "[3]");
    for (const std::size_t trained : {0U, 1U, 4U}) {
      World world;
      auto executor = worker(wiggle);
      world.run(spec_of("\n" + rows, kEither, "[3]"), executor, [&] { return executor.ended >= trained; });
      // Of a search the further rounds are not known before one of its seeds asked for them.
      EXPECT_GE(odometer(world), rows == kRows ? 0.9999 * all : 0);
      StudyRequest request;
      for (const auto& study : world.store().studies("seq").value()) {
        if (!results::is_answered(study)) request.studies.push_back(study.id);
      }
      const double before = odometer(world);
      ASSERT_TRUE(carry_out(world.store(), world.out(), request));
      EXPECT_GE(odometer(world), 0.9999 * before) << trained;
      for (const auto& study : world.store().studies("seq").value()) {
        EXPECT_TRUE(!results::is_cancelled(study) || study.total) << "its row says what it is charged";
      }
      auto cancelled = world.store().studies("seq").value();
      std::erase_if(cancelled, [](const auto& study) { return !results::is_cancelled(study); });
      ASSERT_TRUE(reopen(world.store(), world.out(), world.store().spec("seq").value().value(), cancelled));
      EXPECT_GE(odometer(world), 0.9999 * before) << "also once they are open again";
    }
  }
}

TEST(SequentialSeeds, ANarrowIntervalIsEnoughOnlyWhereTheRuleSaysSo) {
  const auto seeds = [](const std::string& conditions) {
    World world;
    auto executor = worker([](const auto& config) { return 0.3 * wiggle(config); });
    world.run(spec_of(kRows, "{until: paired interval of a - b " + conditions + ", from: 2, to: 8}", "[3]"),
              executor);
    return trained(world, "b", 3.0).size();
  };
  EXPECT_EQ(seeds("excludes 0"), 8u);
  EXPECT_EQ(seeds("is narrower than 0.1"), 8u);
  EXPECT_EQ(seeds("is narrower than 2"), 5u);
  EXPECT_EQ(seeds("is narrower than 1.2 or excludes 0"), 7u);
}

TEST(SequentialSeeds, ARowThatIsWorseStopsAsEarlyAsOneThatIsBetter) {
  const auto seeds = [](double points) {
    World world;
    auto executor = worker([points](const auto& config) { return points + wiggle(config); });
    world.run(spec_of(kRows, "{until: paired interval of a - b excludes 0, from: 3, to: 8}", "[3]"),
              executor);
    return trained(world, "b", 3.0).size();
  };
  EXPECT_LT(seeds(20), 8u);
  EXPECT_EQ(seeds(-20), seeds(20));
}

TEST(SequentialSeeds, StudiesThatAreNotNeededAreNoResults) {
  World world;
  auto executor = worker(large_with_noise);
  world.run(kSpec, executor);
  std::size_t count = 0;
  for (const auto& study : world.store().studies("seq").value()) {
    if (!results::is_not_needed(study)) continue;
    ++count;
    EXPECT_EQ(study.epsilon_target, 3.0);
    EXPECT_THAT(study.trials, IsEmpty());
    EXPECT_FALSE(study.total || study.training);
    EXPECT_EQ(study.failure_kind, "not-needed");
  }
  EXPECT_EQ(count, 3u * 4);
  const auto model = results::build_table(world.store(), "seq").value();
  for (const auto& row : model.panels.at(0).rows) {
    EXPECT_EQ(row.cells.at(0).n, 4);
    EXPECT_THAT(row.cells.at(0).seeds, SizeIs(4));
  }
  EXPECT_TRUE(model.panels.at(0).rows.at(0).cells.at(0).best) << "its interval excludes 0 at every look";
  const auto values = results::export_values(world.store(), "seq", {}).value();
  EXPECT_THAT(values, HasSubstr("seq,main,a,3,7,,not_needed,1"));
  EXPECT_THAT(values, Not(HasSubstr("seq,main,a,3,7,0,")));
  const auto night = results::read_night(world.store(), "seq").value();
  ASSERT_EQ(night.cells.at(0).row, "a");
  EXPECT_THAT(night.cells.at(0).runs, SizeIs(4));
  EXPECT_THAT(night.cells.at(0).not_needed, ElementsAre(4, 5, 6, 7));
}

// A mark by a t-interval would be one that was looked at after each seed.
TEST(SequentialSeeds, TheBestRowIsMarkedByAnIntervalThatHoldsAtAllLooks) {
  const auto is_marked = [](const std::string& seeds) {
    World world;
    auto executor = worker([](const auto& config) { return 1.2 + wiggle(config); });
    world.run(spec_of(kRows, seeds, "[3]"), executor);
    return results::build_table(world.store(), "seq").value().panels.at(0).rows.at(0).cells.at(0).best;
  };
  EXPECT_TRUE(is_marked("[0, 1, 2, 3, 4, 5, 6, 7]"));
  EXPECT_FALSE(is_marked("{until: paired interval of a - b excludes 0, from: 3, to: 8}"));
}

TEST(SequentialSeeds, AnInterruptedRunDecidesTheSameAndTrainsNothingTwice) {
  World clean;
  auto undisturbed = worker(large_with_noise);
  clean.run(kSpec, undisturbed);
  const auto rows = clean.rows("seq");
  for (std::size_t moment = 0; moment <= undisturbed.ended; moment += 9) {
    World world;
    auto stopped = worker(large_with_noise), rest = worker(large_with_noise);
    stopped.order = Order::shuffled;
    world.run(kSpec, stopped, [&] { return stopped.ended >= moment; });
    world.run(kSpec, rest);
    EXPECT_EQ(world.rows("seq"), rows) << moment;
    EXPECT_EQ(stopped.ended + rest.ended, undisturbed.ended) << moment;
  }
}

// Killed between the records of two studies that were not needed.
TEST(SequentialSeeds, AStopOfWhichHalfIsRecordedIsCompleted) {
  World clean, world;
  auto one = worker(large_with_noise), two = worker(large_with_noise);
  clean.run(kSpec, one);
  auto spec = world.read(kSpec);
  enter_spec(world.store(), world.out(), spec, false, false).value();
  for (const auto& trial : clean.store().trials().value()) {
    world.store().put_trial(trial, {}, clean.store().metrics(trial.id, true).value()).value();
  }
  for (const auto& study : clean.store().studies("seq").value()) {
    if (results::is_not_needed(study) && study.row != "a") continue;
    if (study.row == "c" && study.seed > 0) continue;
    world.store().put_study(study).value();
  }
  world.run(kSpec, two);
  EXPECT_EQ(world.rows("seq"), clean.rows("seq")) << "row c has the seeds that the others have";
}

TEST(SequentialSeeds, ASeedThatFailedHasNoDifference) {
  World world;
  auto executor = worker(large_with_noise);
  executor.fate = [](const trial::TrialConfig& config) {
    const bool is_b = double_or(config.controller.options, "lr", 0) == 2e-2;
    return is_b && config.seed == 1 && config.privacy.is_private ? Fate::diverge : Fate::finish;
  };
  world.run(kSpec, executor);
  EXPECT_EQ(trained(world, "a", 3.0), first(5));
  EXPECT_EQ(trained(world, "b", 3.0).size(), 4u);
  EXPECT_THAT(footnotes(world), HasSubstr("ε 3: stopped after 5 of 8 seeds"));
}

TEST(SequentialSeeds, ALostRunIsTriedAgainBeforeTheNextSeed) {
  World clean, world;
  auto undisturbed = worker(large_with_noise), losing = worker(large_with_noise),
       rest = worker(large_with_noise);
  clean.run(kSpec, undisturbed);
  losing.fate = [](const trial::TrialConfig& config) {
    return config.seed == 1 && double_or(config.controller.options, "lr", 0) == kRateA ? Fate::kill
                                                                                       : Fate::finish;
  };
  const auto report = world.run(kSpec, losing);
  EXPECT_TRUE(report.failed_unexpectedly());
  EXPECT_EQ(report.held, 3u * 2 * 5);
  EXPECT_EQ(trained(world, "b", 3.0), first(3)) << "nothing follows before the look";
  EXPECT_THAT(footnotes(world), HasSubstr("ε 3: 1 of the first 3 seeds so far"));
  const auto last = world.run(kSpec, rest);
  EXPECT_EQ(last.held, 0u);
  for (const auto* row : {"a", "b", "c"}) EXPECT_EQ(trained(world, row, 3.0), first(4)) << row;
}

TEST(SequentialSeeds, OnlyAPartOfTheRowsWaitsForTheOthers) {
  World clean, world;
  auto undisturbed = worker(large_with_noise), executor = worker(large_with_noise);
  clean.run(kSpec, undisturbed);
  auto report = world.run_only(kSpec, {"row=a"}, executor);
  EXPECT_EQ(report.held, 2u * 5);
  EXPECT_EQ(trained(world, "a", 3.0), first(3));
  report = world.run_only(kSpec, {"row=a", "row=b"}, executor);
  EXPECT_EQ(report.held, 0u);
  EXPECT_EQ(trained(world, "a", 3.0), first(4));
  EXPECT_THAT(trained(world, "c", 3.0), IsEmpty());
  world.run(kSpec, executor);
  EXPECT_EQ(world.rows("seq"), clean.rows("seq"));
  EXPECT_THAT(executor.submitted, SizeIs(undisturbed.submitted.size()));
}

TEST(SequentialSeeds, ARowWithSeedsOfItsOwnTrainsThese) {
  World world;
  auto executor = worker(large_with_noise);
  world.run(spec_of(kRows + "  - {id: own, method: fixed-rate, options: {lr: 1e-2}, seeds: [0, 7]}\n"),
            executor);
  EXPECT_THAT(trained(world, "own", 3.0), ElementsAre(0, 7));
  EXPECT_EQ(trained(world, "a", 3.0), first(4));
  EXPECT_THAT(footnotes(world), HasSubstr("2 seeds, however many the comparison of the panel needs."));
}

// dp-hyper has no non-private arm.
TEST(SequentialSeeds, AColumnThatTheComparedRowsLackHasTheFirstSeeds) {
  World world;
  auto executor = worker(large_with_noise);
  const auto report =
      world.run(spec_of(R"(
  - {id: s, method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 3, score_noise: 300}}
  - {id: t, method: dp-hyper, options: {grid: [1e-4, 1e-2], mean_runs: 3, score_noise: 300}}
  - {id: c, method: fixed-rate, options: {lr: 1e-2}}
)",
                        "{until: paired interval of s - t excludes 0, from: 3, to: 5}", "[8, inf]"),
                executor);
  EXPECT_EQ(report.held, 0u);
  EXPECT_EQ(trained(world, "c", 8.0), first(5));
  EXPECT_EQ(trained(world, "c", {}), first(3));
  EXPECT_THAT(footnotes(world), HasSubstr("Non-private: 3 seeds, since the two rows are not there."));
}

TEST(SequentialSeedsPrice, AllSeedsAreChargedFromTheStart) {
  const double all = odometer_of_all(kRows + kThird);
  World world;
  auto one = worker(large_with_noise), two = worker(large_with_noise), three = worker(large_with_noise);
  world.run(kSpec, one, [&] { return one.ended >= 1; });
  const double begun = odometer(world);
  EXPECT_NEAR(begun, all, 1e-9 * all) << "all eight seeds are booked, the first three among them";
  world.run(kSpec, two, [&] { return one.ended + two.ended >= 3 * 3 * 2 + 1; });
  EXPECT_NEAR(odometer(world), all, 1e-9 * all) << "between looks";
  world.run(kSpec, three);
  EXPECT_NEAR(odometer(world), all, 1e-9 * all) << "after the stop";
  EXPECT_NEAR(odometer(world, {.to_be_continued = true}), all, 1e-9 * all);
}

TEST(SequentialSeedsPrice, TheSameRunsUnderTwoNamesAreChargedOnce) {
  World world;
  auto executor = worker(large_with_noise);
  world.run(spec_of(kRows), executor);
  const double before = odometer(world);
  auto other = spec_of(kRows);
  other.replace(0, std::string("name: seq").size(), "name: two");
  world.run(other, executor);
  EXPECT_NEAR(odometer(world), before, 1e-9 * before);
  // A spec that makes the runs that were not needed adds nothing to them.
  auto rest = spec_of(kRows, "[6, 7]");
  rest.replace(0, std::string("name: seq").size(), "name: three");
  world.run(rest, executor);
  EXPECT_NEAR(odometer(world), before, 1e-9 * before);
}

TEST(SequentialSeedsPrice, ACapReservesAllSeeds) {
  const auto yaml = spec_of(kRows, kEither, "[3]");
  const double all = odometer_of_all(kRows, "[3]");
  World world;
  const auto reserved = [&](double epsilon) {
    auto budget = Budget::open(world.store(), world.out(), Cap{epsilon, kDelta}).value();
    return budget.reserve(plan_release(world.read(yaml)).value());
  };
  EXPECT_TRUE(reserved(1.0001 * all));
  EXPECT_FALSE(reserved(0.999 * all));
  auto executor = worker(large_with_noise), rest = worker(large_with_noise);
  world.run(yaml, executor, [&] { return executor.ended >= 2; });
  EXPECT_TRUE(reserved(1.0001 * all)) << "what is booked is not reserved again";
  EXPECT_FALSE(reserved(0.999 * all));
  world.run(yaml, rest);
  EXPECT_TRUE(reserved(1.0001 * all));
}

// linear-scaling asks for its last run after others: that is charged of seeds that were not begun.
TEST(SequentialSeedsPrice, SearchesAreChargedWithAllTheirRounds) {
  const std::string rows = R"(
  - {id: a, method: fixed-rate, options: {lr: 5e-2}}
  - {id: b, method: fixed-rate, options: {lr: 2e-2}}
  - {method: linear-scaling, options: {t_min: 2, t_max: 6, r_max: 8}}
)";
  World world;
  auto executor = worker(large_with_noise);
  world.run(spec_of(rows, kEither, "[3]"), executor);
  EXPECT_EQ(trained(world, "linear-scaling", 3.0), first(4));
  EXPECT_GE(odometer(world), 0.9999 * odometer_of_all(rows, "[3]"));
}

const std::string kSelections = R"(
  - {id: a, method: dp-hyper, options: {grid: [5e-2], mean_runs: 3, score_noise: 300}}
  - {id: b, method: dp-hyper, options: {grid: [2e-2], mean_runs: 3, score_noise: 300}}
)";

// Of a private selection that was not needed nothing is drawn, and the odometer charges it whole.
TEST(SequentialSeedsPrice, PrivateSelectionsAreChargedWholeFromTheStart) {
  for (const std::string noise_seed : {"s", ""}) {
    const auto yaml = spec_of(kSelections, kEither, "[8]", noise_seed);
    const double all = odometer_of_all(kSelections, "[8]", noise_seed);
    World world;
    auto executor = worker(large_with_noise), rest = worker(large_with_noise);
    world.run(yaml, executor, [&] { return executor.ended >= 1; });
    EXPECT_GT(odometer(world), 0.6 * all);
    world.run(yaml, rest);
    EXPECT_NEAR(odometer(world), all, 1e-6 * all);
    EXPECT_LT(trained(world, "a", 8.0).size(), 8u);
    for (const auto& study : world.store().studies("seq").value()) {
      if (!results::is_not_needed(study)) continue;
      EXPECT_FALSE(study.composition.shows_run_count());
      EXPECT_THAT(study.trials, IsEmpty());
      // The law of the number of runs and what one costs, as of a study that has not begun.
      std::vector<std::string> keys;
      for (const auto& member : study.composition.to_json()) keys.emplace_back(member.key());
      EXPECT_THAT(keys, UnorderedElementsAre("rule", "trials", "selection", "drew_no_run", "dataset"));
    }
  }
}

TEST(SequentialSeedsRecord, ADeletedDatabaseMakesNoSecondRelease) {
  const auto yaml = spec_of(kSelections + kThird, kEither, "[8]", "");
  World world;
  auto executor = worker(large_with_noise);
  world.run(yaml, executor);
  const auto rows = results::export_rows(world.store(), "seq", {}).value();
  const double spent = odometer(world);
  EXPECT_TRUE(read_release_records(world.out(), "seq").value().back().complete);
  world.forget_database();
  auto again = worker(large_with_noise);
  world.run(yaml, again);
  EXPECT_THAT(again.submitted, IsEmpty());
  EXPECT_EQ(results::export_rows(world.store(), "seq", {}).value(), rows);
  EXPECT_NEAR(odometer(world), spent, 1e-9 * spent);
}

TEST(SequentialSeedsRecord, AFreshReleaseDecidesAnewAndIsChargedBesideTheFirst) {
  const auto yaml = spec_of(kRows, kEither, "[3]", "");
  World world;
  auto executor = worker(large_with_noise);
  world.run(yaml, executor);
  const double once = odometer(world);
  auto second = worker(wiggle);
  world.run(world.read(yaml), second, kNever, true);
  EXPECT_EQ(trained(world, "a", 3.0), first(kTo));
  EXPECT_GT(odometer(world), 1.2 * once);
}

// What one rule did not need, another may.
TEST(SequentialSeedsRecord, AnEditedRuleGoesOn) {
  const auto longer =
      spec_of(kRows, "{until: paired interval of a - b is narrower than 0.01, from: 3, to: 8}", "[3]", "");
  World world;
  auto executor = worker(large_with_noise), more = worker(large_with_noise);
  world.run(spec_of(kRows, kEither, "[3]", ""), executor);
  EXPECT_EQ(trained(world, "a", 3.0), first(4));
  world.run(world.read(longer), more, kNever, false, {}, {}, true);
  EXPECT_EQ(trained(world, "a", 3.0), first(kTo));
  EXPECT_THAT(more.submitted, SizeIs(2 * 4)) << "the first four are there";
}

TEST(SequentialSeedsRecord, APublishedPartTellsTheSame) {
  World world;
  auto executor = worker(large_with_noise);
  world.run(kSpec, executor);
  const auto path = ::testing::TempDir() + "sequential-slice.sqlite";
  std::filesystem::remove(path);
  ASSERT_TRUE(results::write_slice(world.store(), "seq", path));
  const auto slice = results::Store::open(path, results::Store::Mode::read_only).value();
  EXPECT_EQ(results::build_table(*slice, "seq").value().footnotes,
            results::build_table(world.store(), "seq").value().footnotes);
}

}  // namespace sequential_seeds_test
}  // namespace hyfreedp::runner
