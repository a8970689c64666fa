// A part of a spec's studies, as `hyfreedp run --only` names it, and what becomes of the rest.
#include "harness/runner/execute/only.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/random/key_file.h"
#include "harness/runner/execute/budget.h"
#include "harness/runner/odometer/release_record.h"
#include "results/store/states.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace only_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

// Panel `one` has rows plain, grid-lr-0.01, grid-lr-0.1 (a group); panel `two` its noise fixed.
constexpr const char* kPanels = R"(
panels:
  - id: one
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3, inf]
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows:
      - {id: plain, method: fixed-rate, options: {lr: 5e-2}}
      - {id: grid, method: fixed-rate, each: {options.lr: [0.01, 0.1]}}
  - id: two
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [7]
    noise_multiplier: [2, 4]
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows:
      - {id: plain, method: fixed-rate, options: {lr: 5e-2}}
)";
const std::string kSpec = std::string("name: parts\nnoise_seed: s\n") + kPanels;
constexpr std::size_t kStudies = 14;

class OnlyOf : public testing::Test {
 protected:
  std::size_t count(const std::vector<std::string>& asked) {
    const auto spec = world_.read(kSpec);
    const auto only = Only::read(asked, spec);
    if (!only) {
      ADD_FAILURE() << only.error().message;
      return 0;
    }
    const auto left = covered(plan(spec).value(), *only);
    // The narrowed spec has the same studies, under the same ids.
    const auto again = covered(plan(narrowed(spec, *only).value()).value(), *only);
    EXPECT_EQ(again.size(), left.size());
    for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(again.at(i).id, left[i].id);
    return left.size();
  }
  std::string refusal(const std::string& asked) {
    const auto only = Only::read({asked}, world_.read(kSpec));
    return only ? "" : only.error().message;
  }

  World world_;
};

// A comparison's seeds are charged as all that the spec allows; a run of some would be charged
// less.
TEST_F(OnlyOf, AComparisonsSeedsAreTakenWhole) {
  const auto spec = world_.read(R"(name: compared
noise_seed: s
dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
model: linear
epsilon: [3]
train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
seeds: {until: paired interval of a - b is narrower than 2, from: 3, to: 8}
rows:
  - {id: a, method: fixed-rate, options: {lr: 5e-2}}
  - {id: b, method: fixed-rate, options: {lr: 2e-2}}
  - {id: fixed, method: fixed-rate, options: {lr: 1e-2}, seeds: [0, 1]}
)");
  const auto checked = [&](const std::vector<std::string>& asked) {
    return check_seeds_are_whole(Only::read(asked, spec).value(), spec);
  };
  for (const auto& whole :
       std::vector<std::vector<std::string>>{{}, {"row=a"}, {"row=a,row=b"}, {"row=fixed,seed=0"}}) {
    EXPECT_TRUE(checked(whole)) << fmt::format("{}", fmt::join(whole, " "));
  }
  for (const auto& part : std::vector<std::vector<std::string>>{{"row=a,seed=0"}, {"seed=0", "seed=1"}}) {
    const auto refused = checked(part);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("name no seed of it"));
  }
}

TEST_F(OnlyOf, KeysAreAllMetAndValuesOfOneKeyAny) {
  EXPECT_EQ(count({}), kStudies);
  EXPECT_EQ(count({"panel=one"}), 12u);
  EXPECT_EQ(count({"row=plain"}), 6u);
  EXPECT_EQ(count({"panel=one,row=plain"}), 4u);
  EXPECT_EQ(count({"panel=one,row=plain,epsilon=3"}), 2u);
  EXPECT_EQ(count({"panel=one,row=plain,epsilon=3.0,seed=1"}), 1u);
  EXPECT_EQ(count({"epsilon=inf,row=plain"}), 2u);
  EXPECT_EQ(count({"row=plain,row=grid-lr-0.1,epsilon=3"}), 4u);
  EXPECT_EQ(count({"noise_multiplier=4"}), 1u);
}

TEST_F(OnlyOf, ARowIsNamedByItsGroupToo) {
  EXPECT_EQ(count({"row=grid"}), 8u);
  EXPECT_EQ(count({"grid,seed=0"}), 4u);
}

TEST_F(OnlyOf, SeveralAreTheStudiesOfAny) {
  EXPECT_EQ(count({"row=plain,epsilon=3,seed=0", "row=grid-lr-0.1,epsilon=inf,seed=1"}), 2u);
  EXPECT_EQ(count({"seed=0", "seed=1"}), 12u);
  EXPECT_EQ(count({"seed=0", "seed=0,row=plain"}), 6u);
}

TEST_F(OnlyOf, AValueAloneIsOfTheOneKeyThatHasIt) {
  EXPECT_EQ(count({"two"}), 2u);
  EXPECT_EQ(count({"plain,inf"}), 2u);
  EXPECT_EQ(count({"7"}), 2u);
  EXPECT_EQ(count({"3"}), 6u);
}

TEST_F(OnlyOf, WhatMatchesNothingIsRefusedWithWhatThereIs) {
  EXPECT_THAT(refusal("row=plian"),
              HasSubstr("--only row=plian: there is no row plian. Did you mean 'plain'? "
                        "There are plain, grid-lr-0.01, grid, grid-lr-0.1."));
  EXPECT_THAT(refusal("panel=two,row=grid"),
              HasSubstr("there is no row grid with panel=two. There are plain."));
  EXPECT_THAT(refusal("panel=two,row=plain,seed=0"),
              HasSubstr("there is no seed 0 with panel=two, row=plain. There are 7."));
  EXPECT_THAT(refusal("epsilon=5"), HasSubstr("There are 3, inf, 0."));
  EXPECT_THAT(refusal("panel=one,noise_multiplier=4"), HasSubstr("There is none."));
  EXPECT_THAT(refusal("plian"), AllOf(HasSubstr("the spec has no 'plian'. Did you mean 'plain'?"),
                                      HasSubstr("panel: one, two; row: plain, grid-lr-0.01"),
                                      HasSubstr("noise_multiplier: 2, 4; seed: 0, 1, 7")));
  EXPECT_THAT(refusal("rows=plain"), HasSubstr("unknown key 'rows'. Did you mean 'row'? Keys: panel, row, "
                                               "epsilon, noise_multiplier, seed."));
  EXPECT_THAT(refusal("row="), HasSubstr("a value is missing"));
  EXPECT_THAT(refusal(""), HasSubstr("a value is missing"));
}

TEST_F(OnlyOf, AValueOfSeveralKeysIsAskedAbout) {
  const auto spec = world_.read(kSpec + R"(
  - id: grid
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [3]
    epsilon: [3]
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows: [prodigy]
)");
  EXPECT_THAT(Only::read({"3"}, spec).error().message,
              HasSubstr("--only 3: '3' may be epsilon=3 or seed=3; say which."));
  EXPECT_THAT(Only::read({"grid"}, spec).error().message, HasSubstr("may be panel=grid or row=grid"));
}

TEST_F(OnlyOf, TheNarrowedSpecLacksWhatIsNotAsked) {
  const auto spec = world_.read(kSpec);
  const auto part = narrowed(spec, Only::read({"two"}, spec).value()).value();
  ASSERT_THAT(part.content.panels, SizeIs(1));
  EXPECT_EQ(part.content.panels[0].id, "two");
  const auto rows = narrowed(spec, Only::read({"grid-lr-0.1,seed=0"}, spec).value()).value();
  ASSERT_THAT(rows.content.panels, SizeIs(1));
  EXPECT_THAT(rows.content.panels[0].rows, SizeIs(1));
}

// A run of a part, and then of all, gives what one run gives.
TEST(OnlyRun, TheRestStaysOpenUntilALaterRun) {
  World clean;
  FakeExecutor undisturbed;
  clean.run(kSpec, undisturbed);

  World world;
  FakeExecutor first;
  const auto report = world.run_only(kSpec, {"panel=one,row=plain,epsilon=3"}, first);
  EXPECT_EQ(report.studies, 2u);
  EXPECT_EQ(report.cells, 1u);
  EXPECT_EQ(report.left_out, kStudies - 2);
  EXPECT_EQ(report.left_open, kStudies - 2);
  EXPECT_THAT(first.submitted, SizeIs(2));
  std::size_t open = 0;
  for (const auto& study : world.store().studies("parts").value()) {
    const bool asked = study.panel == "one" && study.row == "plain" && study.epsilon_target == 3.0;
    EXPECT_EQ(study.state, asked ? results::StudyState::concluded : results::StudyState::open);
    open += study.state == results::StudyState::open ? 1 : 0;
  }
  EXPECT_EQ(open, kStudies - 2);
  EXPECT_EQ(world.store().spec("parts").value()->hash, clean.store().spec("parts").value()->hash);

  FakeExecutor second;
  const auto rest = world.run(kSpec, second);
  EXPECT_EQ(rest.known_before, 2u);
  EXPECT_EQ(rest.left_out, 0u);
  EXPECT_THAT(second.submitted, SizeIs(undisturbed.submitted.size() - 2));
  EXPECT_EQ(world.rows("parts"), clean.rows("parts"));
}

TEST(OnlyRun, WhatIsAnsweredAlreadyIsNotLeftOpen) {
  World world;
  FakeExecutor all, again;
  world.run(kSpec, all);
  const auto report = world.run_only(kSpec, {"panel=two"}, again);
  EXPECT_EQ(report.known_before, 2u);
  EXPECT_EQ(report.left_out, kStudies - 2);
  EXPECT_EQ(report.left_open, 0u);
  EXPECT_THAT(again.submitted, IsEmpty());
}

const std::string kDrawn = R"(name: drawn
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [0, 1]
    epsilon: [3]
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows:
      - {method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 6, score_noise: 300}}
      - {method: fixed-rate, options: {lr: 5e-2}}
)";
const std::string kOther = R"(name: other
panels:
  - id: small
    dataset: {name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}
    model: linear
    seeds: [5]
    epsilon: [3]
    train: {sample_rate: 0.1, steps: 6, optimizer: adamw}
    rows: [{method: fixed-rate, options: {lr: 5e-2}}]
)";

// A second key would draw other runs of the rows that are open: another release of the same data.
TEST(OnlyRun, TheKeyOfDrawsStaysUntilEveryRowHasAnAnswer) {
  World world;
  const auto key = world.out().draw_key("drawn");
  FakeExecutor first, other, second, third;
  world.run_only(kDrawn, {"fixed-rate"}, first);
  ASSERT_TRUE(std::filesystem::exists(key));
  const auto bytes = random::read_key(key).value()->key.bytes;
  EXPECT_FALSE(read_release_records(world.out(), "drawn").value().back().complete);

  // Another spec that comes to its end deletes keys that nothing needs any more.
  world.run(kOther, other);
  ASSERT_TRUE(std::filesystem::exists(key));

  world.run_only(kDrawn, {"row=dp-hyper,seed=0"}, second);
  ASSERT_TRUE(std::filesystem::exists(key));
  EXPECT_EQ(random::read_key(key).value()->key.bytes, bytes);
  EXPECT_FALSE(read_release_records(world.out(), "drawn").value().back().complete);

  const auto last = world.run_only(kDrawn, {"row=dp-hyper,seed=1"}, third);
  EXPECT_EQ(last.left_open, 0u);
  EXPECT_FALSE(std::filesystem::exists(key));
  EXPECT_TRUE(read_release_records(world.out(), "drawn").value().back().complete);
}

// Without its key the rest would be drawn anew.
TEST(OnlyRun, TheRestIsRefusedWhereTheKeyOfDrawsIsGone) {
  World world;
  FakeExecutor first, second;
  world.run_only(kDrawn, {"fixed-rate"}, first);
  ASSERT_TRUE(random::delete_key(world.out().draw_key("drawn")));
  auto spec = world.read(kDrawn);
  enter_spec(world.store(), world.out(), spec, false, false).value();
  std::ostream silent(nullptr);
  Progress progress(silent, Progress::Style::none);
  Coordinator coordinator(world.store(), second, world.out(), progress);
  EXPECT_THAT(coordinator.run(spec, [] { return false; }).error().message, HasSubstr("draws is gone"));
}

// A selection is charged as a whole when it opens; one that is left out opens later.
TEST(OnlyRun, NothingOfWhatIsLeftOutIsBookedOrReserved) {
  World world;
  FakeExecutor executor;
  world.run_only(kDrawn, {"row=fixed-rate,seed=0"}, executor);
  EXPECT_THAT(executor.submitted, SizeIs(1));
  for (const auto& study : world.store().studies("drawn").value()) {
    if (study.row != "dp-hyper") continue;
    EXPECT_FALSE(study.composition.rule) << study.seed;
  }
  const auto continued = odometer_of(world.store(), world.out(), {.to_be_continued = true}).value();
  ASSERT_THAT(continued.data, SizeIs(1));
  EXPECT_EQ(continued.data[0].selections, 0);
  EXPECT_EQ(continued.data[0].runs, 1);

  // What is reserved is what is asked for: a cap for it, which the whole spec would exceed.
  const auto spec = world.read(kDrawn);
  const auto all = plan_release(spec).value();
  const auto part = covered(all, Only::read({"row=fixed-rate,seed=1"}, spec).value());
  const auto open = [&](std::optional<Cap> cap) {
    return Budget::open(world.store(), world.out(), cap).value();
  };
  auto uncapped = open({});
  EXPECT_TRUE(uncapped.reserve(part));
  const double then = uncapped.forecast(1e-5).value().at(0).then;
  const Cap cap{.epsilon = then + 0.01, .delta = 1e-5};
  EXPECT_TRUE(open(cap).reserve(part));
  EXPECT_FALSE(open(cap).reserve(all));
}

// What an interrupted run has booked of a row stays as it is while another row runs.
TEST(OnlyRun, WhatIsUnderWayElsewhereIsLeftAsItIs) {
  World world;
  FakeExecutor stopped, other, rest;
  world.run_only(kDrawn, {"row=dp-hyper,seed=0"}, stopped, [&] { return !stopped.submitted.empty(); });
  const auto of_selection = [&] {
    for (auto& study : world.store().studies("drawn").value()) {
      if (study.row == "dp-hyper" && study.seed == 0) return study;
    }
    return results::StudyRecord{};
  };
  const auto before = of_selection();
  ASSERT_EQ(before.state, results::StudyState::open);
  EXPECT_TRUE(before.composition.is_selection());
  world.run_only(kDrawn, {"fixed-rate"}, other);
  EXPECT_EQ(canonical_json(as_json(of_selection())), canonical_json(as_json(before)));
  world.run(kDrawn, rest);
  EXPECT_EQ(of_selection().state, results::StudyState::concluded);
}

}  // namespace only_test
}  // namespace hyfreedp::runner
