// A limit on the odometer: what it refuses, reserves and foresees.
#include "harness/runner/execute/budget.h"

#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>
#include <map>

#include "harness/runner/execute/run_keys.h"
#include "harness/runner/execute/study_request.h"
#include "results/store/states.h"
#include "results/table/cell_text.h"
#include "tests/runner/spending_world.h"

namespace hyfreedp::runner {
namespace budget_test {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace spending;

Result<Budget> reserved(World& world, const std::string& yaml, std::optional<Cap> cap) {
  auto budget = Budget::open(world.store(), world.out(), cap);
  if (!budget) return budget.error();
  const auto spec = world.read(yaml);
  if (auto done = budget->reserve(plan_release(spec).value()); !done) return done.error();
  return budget;
}

// Runs the spec under a limit, of which what `reserving` starts with is reserved (empty: of
// itself).
RunReport run_within(
    World& world, const std::string& yaml, double epsilon, FakeExecutor& executor,
    const std::string& reserving = "", const std::function<bool()>& is_to_stop = [] { return false; }) {
  auto spec = world.read(yaml);
  auto budget =
      reserved(world, reserving.empty() ? yaml : reserving, Cap{epsilon * (1 + 1e-9), kDelta}).value();
  enter_spec(world.store(), world.out(), spec, false, false).value();
  std::ostream silent(nullptr);
  Progress progress(silent, Progress::Style::none);
  Coordinator coordinator(world.store(), executor, world.out(), progress);
  coordinator.keep_within(std::move(budget));
  return coordinator.run(spec, is_to_stop).value();
}

TEST(Budget, RefusesWhatWouldGoBeyondAndForeseesWhatItComesTo) {
  World world;
  const auto spec = spec_of("tiny", kFixed);
  const auto forecast = reserved(world, spec, {})->forecast(kDelta)->at(0);
  EXPECT_EQ(forecast.now, 0);
  EXPECT_FALSE(forecast.then_infinite);
  EXPECT_TRUE(reserved(world, spec, Cap{forecast.then, kDelta}));
  const auto refused = reserved(world, spec, Cap{0.999 * forecast.then, kDelta});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("So far ε 0.00 was spent"));

  FakeExecutor executor;
  world.run(spec, executor);
  EXPECT_EQ(epsilon_of(world), forecast.then) << "what was foreseen is what was spent";
  EXPECT_TRUE(reserved(world, spec, Cap{0.1, kDelta})) << "nothing would start";
  const auto more = reserved(world, spec_of("more", kFixed + kAnother), Cap{1.01 * forecast.then, kDelta});
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("Raise --cap"));
  const auto foreseen = reserved(world, spec_of("more", kFixed + kAnother), {})->forecast(kDelta)->at(0);
  EXPECT_EQ(foreseen.now, forecast.then);
  FakeExecutor another;
  world.run(spec_of("more", kFixed + kAnother), another);
  EXPECT_EQ(epsilon_of(world), foreseen.then) << "runs that are over cost nothing again";
  const auto free = reserved(world, spec_of("free", kFixed, "[inf]"), Cap{1000, kDelta});
  ASSERT_FALSE(free);
  EXPECT_THAT(free.error().message, HasSubstr("2 non-private runs"));
}

// A private selection or a run on other data lies between runs on the same data.
TEST(Budget, ReservesEachRunOnItsOwnData) {
  // Panels, each with its own training records.
  const auto spec_with = [](const std::vector<std::pair<int, std::string>>& panels) {
    auto text = spec_of("several", "");
    const auto begin = text.find("  - id: small");
    const auto panel = text.substr(begin);
    text.resize(begin);
    for (const auto& [train, rows] : panels) {
      auto one = panel + rows;
      one.replace(one.find("small"), 5, "p" + std::to_string(text.size()));
      text += one.replace(one.find("train: 2000"), 11, "train: " + std::to_string(train));
    }
    return text;
  };
  // What it may come to, by dataset.
  const auto foreseen = [](const std::string& yaml) {
    World world;
    std::map<std::string, double> then;
    const auto budget = reserved(world, yaml, {}).value();
    for (const auto& one : budget.forecast(kDelta).value()) then[one.dataset] = one.then;
    return then;
  };
  for (const auto& middle : {kSelection, kFixed}) {
    auto apart = foreseen(spec_with({{2000, kFixed}, {2000, kAnother}}));
    apart.merge(foreseen(spec_with({{1000, middle}})));
    ASSERT_THAT(apart, SizeIs(2));
    EXPECT_EQ(foreseen(spec_with({{2000, kFixed}, {1000, middle}, {2000, kAnother}})), apart) << middle;
  }
}

TEST(Budget, ReservesAPrivateSelectionAsAWhole) {
  World world;
  const auto spec = spec_of("selection", kSelection, "[8]");
  const auto forecast = reserved(world, spec, {})->forecast(kDelta)->at(0);
  FakeExecutor first;
  world.run(spec, first, [&] { return first.ended >= 1; });
  EXPECT_NEAR(reserved(world, spec, {})->forecast(kDelta)->at(0).then, forecast.then, 1e-9);
  FakeExecutor second;
  world.run(spec, second);
  EXPECT_NEAR(epsilon_of(world), forecast.then, 1e-9);
}

// An interrupted run may have to begin anew on another machine: both count.
TEST(Budget, CountsAnInterruptedRunAsBegunAnew) {
  World world;
  const auto spec = spec_of("tiny", kFixed);
  const auto once = reserved(world, spec, {})->forecast(kDelta)->at(0).then;
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::kill; };
  world.run(spec, executor);
  const auto twice = reserved(world, spec, {})->forecast(kDelta)->at(0).then;
  EXPECT_GT(twice, once);
  EXPECT_FALSE(reserved(world, spec, Cap{once, kDelta}));
  FakeExecutor again;
  again.machine = "another";
  world.run(spec, again);
  EXPECT_EQ(epsilon_of(world), twice);
}

TEST(Budget, CountsAnInterruptedSelectionAsBegunAnew) {
  World world;
  const auto spec = spec_of("selection", kSelection, "[8]");
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::kill; };
  world.run(spec, executor);
  const auto foreseen = reserved(world, spec, {})->forecast(kDelta)->at(0);
  FakeExecutor again;
  again.machine = "another";
  world.run(spec, again);
  EXPECT_NEAR(epsilon_of(world), foreseen.then, 1e-9);
  EXPECT_GT(foreseen.then, foreseen.now);
}

// Runs whose settings are drawn are reserved before the key of the draws is made, and asked for
// under it.
TEST(Budget, ReservesRunsThatAreDrawnOnce) {
  const std::string rows =
      "      - {method: dpsgd, options: {tuning: composed, candidates: 4, score_noise: 300}}\n";
  const auto yaml = spec_of("drawn", rows, "[8]", "");
  World world;
  const auto run = [&](FakeExecutor& executor, const std::function<bool()>& stop) {
    auto spec = world.read(yaml);
    auto studies = plan_release(spec).value();
    show_draws(world.out(), studies, "drawn", spec.hash()).value();
    auto open = Budget::open(world.store(), world.out(), {}).value();
    EXPECT_TRUE(open.reserve(studies));
    const auto most = open.forecast(kDelta)->at(0).then;
    auto budget = Budget::open(world.store(), world.out(), Cap{1.0001 * most, kDelta}).value();
    EXPECT_TRUE(budget.reserve(studies));
    enter_spec(world.store(), world.out(), spec, false, false).value();
    std::ostream silent(nullptr);
    Progress progress(silent, Progress::Style::none);
    Coordinator coordinator(world.store(), executor, world.out(), progress);
    coordinator.keep_within(std::move(budget));
    return std::pair(coordinator.run(spec, stop).value(), most);
  };
  FakeExecutor first, rest;
  const auto [stopped, before] = run(first, [&] { return first.ended >= 3; });
  EXPECT_FALSE(stopped.refused) << *stopped.refused;
  const auto [report, after] = run(rest, [] { return false; });
  EXPECT_FALSE(report.refused) << *report.refused;
  EXPECT_NEAR(after, before, 1e-9) << "what has run is not reserved again";
  EXPECT_LE(epsilon_of(world), 1.0001 * before);
}

// A search that ends early is charged as planned: its later rounds are reserved with the first.
TEST(Budget, ReservesTheRoundsAfterTheFirst) {
  const auto yaml = spec_of("rounds", kTwoRounds + kFixed);
  const auto foreseen = [&](World& world) { return reserved(world, yaml, {})->forecast(kDelta)->at(0).then; };
  World none;
  const auto most = foreseen(none);
  EXPECT_FALSE(reserved(none, yaml, Cap{0.999 * most, kDelta}));
  std::size_t runs = 0;
  for (const auto fate : {Fate::finish, Fate::diverge}) {
    World world;
    FakeExecutor executor;
    executor.fate = [fate](const auto&) { return fate; };
    EXPECT_FALSE(run_within(world, yaml, most, executor).refused);
    EXPECT_NEAR(epsilon_of(world), most, 1e-9);
    runs = std::max(runs, executor.ended);
  }
  ASSERT_GT(runs, 3U);
  for (std::size_t ended = 1; ended < runs; ++ended) {
    World world;
    FakeExecutor executor;
    world.run(yaml, executor, [&] { return executor.ended >= ended; });
    EXPECT_NEAR(foreseen(world), most, 1e-9) << ended;
  }
}

// Seeds that a comparison does not need are charged whole searches.
TEST(Budget, ReservesTheRoundsOfSeedsThatMayNotBeNeeded) {
  auto yaml = spec_of(
      "seeds",
      "      - {id: search, method: subset-tuning, options: {share: 0.5, grid: [1e-2, 1e-1]}}\n" + kFixed,
      "[3]", "");
  yaml.replace(yaml.find("[0, 1]"), 6,
               "{until: paired interval of search - fixed is narrower than 1000, from: 2, to: 5}");
  World none;
  const auto most = reserved(none, yaml, {})->forecast(kDelta)->at(0).then;
  World world;
  FakeExecutor executor;
  EXPECT_FALSE(run_within(world, yaml, most, executor).refused);
  EXPECT_NEAR(epsilon_of(world), most, 1e-6);
  EXPECT_THAT(world.store().studies("seeds").value(),
              Contains(Field(&results::StudyRecord::failure_kind, results::kNotNeeded)));
}

// Runs for which nothing was reserved are refused when they are asked for; their rows stay open,
// and the others are there.
TEST(Budget, StopsAStudyThatAsksForTooMuchOnItsWay) {
  World world;
  const auto yaml = spec_of("rounds", kTwoRounds + kFixed);
  const auto others = spec_of("rounds", kFixed);
  const auto enough = reserved(world, others, {})->forecast(kDelta)->at(0).then;
  FakeExecutor executor;
  const auto report = run_within(world, yaml, enough, executor, others);
  ASSERT_TRUE(report.refused);
  EXPECT_THAT(*report.refused, HasSubstr("Raise --cap"));
  EXPECT_THAT(*report.refused,
              HasSubstr("So far ε " + results::epsilon_text(epsilon_of(world)) + " was spent"));
  EXPECT_LE(epsilon_of(world), enough + 1e-9);
  for (const auto& study : world.store().studies("rounds").value()) {
    EXPECT_EQ(study.state == results::StudyState::open, study.row != "fixed") << study.row;
  }
  FakeExecutor again;
  EXPECT_FALSE(run_within(world, yaml, 10 * enough, again).refused);
  EXPECT_THAT(again.submitted, Not(IsEmpty()));
  for (const auto& study : world.store().studies("rounds").value()) {
    EXPECT_EQ(study.state, results::StudyState::concluded);
  }
}

// A seed that is not needed is charged as the dearest that was trained; searches draw their steps,
// or ask for them later.
TEST(Budget, ReservesSeedsThatMayNotBeNeededAtThePriceOfTheDearest) {
  int refused = 0, rose = 0;
  for (const std::string row :
       {"{id: a, method: random-search, options: {t_min: 5, t_max: 60}}",
        "{id: a, method: linear-scaling, options: {t_min: 2, t_max: 20, r_max: 8}}"}) {
    for (const std::string from : {"2", "4"}) {
      const auto spec = boost::replace_all_copy(
          spec_of("compared",
                  "      - " + row + "\n      - {id: b, method: fixed-rate, options: {lr: 2e-2}}\n"),
          "seeds: [0, 1]",
          "seeds: {until: paired interval of a - b is narrower than 10000, from: " + from + ", to: 6}");
      World asked;
      const auto then = reserved(asked, spec, {})->forecast(kDelta)->at(0).then;
      for (const double cap : {then, 1.2 * then, 3 * then}) {
        World world;
        FakeExecutor executor;
        const auto report = run_within(world, spec, cap, executor);
        EXPECT_LE(epsilon_of(world), cap * (1 + 1e-6)) << row << " from " << from;
        refused += report.refused ? 1 : 0;
        rose += epsilon_of(world) > 0.99 * then ? 1 : 0;
      }
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(rose, 0);
}

// What is cancelled after a run under a cap, whatever had begun, was reserved. A search that asks
// for all its runs at once is charged what was booked of it: no more than if every seed were
// trained.
TEST(Budget, ReservesWhatCancellingCosts) {
  for (const std::string row :
       {"{id: a, method: random-search, options: {t_min: 5, t_max: 60}}",
        "{id: a, method: linear-scaling, options: {t_min: 2, t_max: 20, r_max: 8}}",
        "{id: a, method: subset-tuning, options: {share: 0.5, grid: [1e-2, 1e-1]}}"}) {
    for (const std::string from : {"2", "5"}) {
      const auto spec = boost::replace_all_copy(
          spec_of("compared",
                  "      - " + row + "\n      - {id: b, method: fixed-rate, options: {lr: 2e-2}}\n", "[3]"),
          "seeds: [0, 1]",
          "seeds: {until: paired interval of a - b is narrower than 10000, from: " + from + ", to: 5}");
      World whole;
      const auto then = reserved(whole, spec, {})->forecast(kDelta)->at(0).then;
      FakeExecutor to_the_end;
      run_within(whole, spec, then, to_the_end);
      for (std::size_t ended = 0; ended <= to_the_end.ended; ended += 5) {
        World world;
        FakeExecutor executor;
        run_within(world, spec, then, executor, "", [&] { return executor.ended >= ended; });
        StudyRequest request;
        for (const auto& study : world.store().studies("compared").value()) {
          if (!results::is_answered(study)) request.studies.push_back(study.id);
        }
        if (request.studies.empty()) continue;
        ASSERT_TRUE(leave_request(world.out(), request));
        FakeExecutor later;
        run_within(world, spec, then, later);
        EXPECT_LE(epsilon_of(world), then * (1 + 1e-6)) << row << " from " << from << " ended " << ended;
      }
    }
  }
}

// What a seed that has its answer might have cost is free again.
TEST(Budget, ReservesNothingOfSeedsThatAreOver) {
  const auto spec = boost::replace_all_copy(
      spec_of("compared",
              "      - {id: a, method: linear-scaling, options: {t_min: 2, t_max: 20, r_max: 8}}\n"
              "      - {id: b, method: fixed-rate, options: {lr: 2e-2}}\n"),
      "seeds: [0, 1]", "seeds: {until: paired interval of a - b is narrower than 0.0001, from: 2, to: 6}");
  World whole;
  FakeExecutor to_the_end;
  whole.run(spec, to_the_end);
  World world;
  FakeExecutor executor;
  EXPECT_FALSE(run_within(world, spec, 1.5 * epsilon_of(whole), executor).refused);
}

}  // namespace budget_test
}  // namespace hyfreedp::runner
