// Another version of a spec in a folder that has rows of it: what is shown otherwise, or added,
// needs no `--replace`; what would leave the table is named, and nothing that was charged is
// forgotten.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/runner/odometer/odometer.h"
#include "results/provenance/export.h"
#include "results/store/states.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace changed_rows_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::Not;
using ::testing::SizeIs;

constexpr auto kNever = [] { return false; };
const std::string kFixed = "      - {id: fixed, method: fixed-rate, options: {lr: 5e-2}}\n";
const std::string kSelection =
    "      - {method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 6, score_noise: 300}}\n";
const std::string kProdigy = "      - {method: prodigy}\n";

struct Written {
  bool seeded = true;
  std::string title = "t", seeds = "[0, 1]", epsilon = "[3]", rest;
  std::string rows = kFixed + kSelection;

  std::string yaml() const {
    return fmt::format(
        "name: tiny\ntitle: {}\n{}{}panels:\n  - id: small\n"
        "    dataset: {{name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: "
        "16}}\n"
        "    model: linear\n    seeds: {}\n    epsilon: {}\n    delta: 1e-5\n"
        "    train: {{sample_rate: 0.1, steps: 6, optimizer: adamw}}\n    evaluate: {{every: 0}}\n    "
        "rows:\n{}",
        title, seeded ? "noise_seed: s\n" : "", rest, seeds, epsilon, rows);
  }
};

// Why it is refused; empty where it is not.
std::string refusal(World& world, const Written& written, bool replace = false) {
  auto spec = world.read(written.yaml());
  const auto entered = enter_spec(world.store(), world.out(), spec, false, replace);
  return entered ? "" : entered.error().message;
}

double spent(World& world) {
  double most = 0;
  for (const auto& data : odometer_of(world.store(), world.out()).value().data) {
    most = std::max(most, read_odometer(data, 1e-5).value().total.epsilon);
  }
  return most;
}

std::vector<std::string> ids(World& world) {
  std::vector<std::string> all;
  for (const auto& study : world.store().studies("tiny").value()) all.push_back(study.id);
  return all;
}

class ChangedRows : public testing::TestWithParam<bool> {
 protected:
  Written spec() const { return {.seeded = GetParam()}; }
};

TEST_P(ChangedRows, WhatIsShownNeedsNothing) {
  World world;
  FakeExecutor first;
  world.run(spec().yaml(), first);
  const auto before = world.rows("tiny");
  const auto cost = spent(world);
  auto other = spec();
  other.title = "Another";
  other.rest = "description: d\ntable: {interval: t}\nfigures: [{kind: curves}]\nregress: {power: 0.7}\n";
  other.rows =
      "      - {id: fixed, method: fixed-rate, title: F, footnote: n, options: {lr: 5e-2}}\n" + kSelection;
  EXPECT_EQ(refusal(world, other), "");
  FakeExecutor second;
  EXPECT_EQ(world.run(other.yaml(), second).known_before, 4U);
  EXPECT_THAT(second.submitted, IsEmpty());
  EXPECT_EQ(world.rows("tiny"), before);
  EXPECT_EQ(spent(world), cost);
  EXPECT_EQ(world.store().spec("tiny").value()->resolved.at("title"), "Another");
  EXPECT_THAT(world.store().retired_studies().value(), IsEmpty());
  // Back again, and from the release record where the database is lost.
  EXPECT_EQ(refusal(world, spec()), "");
  world.run(spec().yaml(), second);
  world.forget_database();
  world.run(spec().yaml(), second);
  EXPECT_THAT(second.submitted, IsEmpty());
  EXPECT_EQ(spent(world), cost);
}

TEST_P(ChangedRows, WhatIsAddedIsTrainedAlone) {
  World world;
  FakeExecutor first;
  world.run(spec().yaml(), first);
  const auto before = ids(world);
  const auto rows = world.rows("tiny");
  auto more = spec();
  more.rows += kProdigy;
  more.seeds = "[0, 1, 2]";
  more.epsilon = "[3, 8]";
  FakeExecutor second;
  const auto report = world.run(more.yaml(), second);
  EXPECT_EQ(report.known_before, 4U);
  EXPECT_EQ(report.studies, 18U);
  EXPECT_THAT(before, IsSubsetOf(ids(world)));
  EXPECT_THAT(rows, IsSubsetOf(world.rows("tiny")));
  for (const auto& id : second.submitted) {
    EXPECT_EQ(std::ranges::count(first.submitted, id), 0) << "trained a second time";
  }
  const auto cost = spent(world);
  world.forget_database();
  FakeExecutor third;
  world.run(more.yaml(), third);
  EXPECT_THAT(third.submitted, IsEmpty());
  EXPECT_EQ(spent(world), cost);
}

TEST_P(ChangedRows, AHalfFinishedRunGoesOnUnderItsNewTitle) {
  World world, whole;
  FakeExecutor first, rest, all;
  ASSERT_TRUE(world.run(spec().yaml(), first, [&] { return first.ended >= 2; }).stopped);
  auto other = spec();
  other.title = "Another";
  world.run(other.yaml(), rest);
  for (const auto& study : world.store().studies("tiny").value()) EXPECT_TRUE(results::is_answered(study));
  EXPECT_THAT(world.store().retired_studies().value(), IsEmpty());
  if (!GetParam()) return;  // draws of its own
  whole.run(other.yaml(), all);
  EXPECT_EQ(world.rows("tiny"), whole.rows("tiny"));
}

TEST_P(ChangedRows, WhatWouldLeaveIsNamedRowByRow) {
  World world;
  FakeExecutor first;
  auto three = spec();
  three.rows += kProdigy;
  world.run(three.yaml(), first);
  const auto before = world.rows("tiny");
  const auto cost = spent(world);
  auto other = three;
  other.title = "Another";
  other.rows = "      - {id: fixed, method: fixed-rate, options: {lr: 6e-2}}\n" + kSelection;
  EXPECT_THAT(refusal(world, other),
              AllOf(HasSubstr("already holds 'tiny'"), HasSubstr("small, fixed (2 studies: trained anew)"),
                    HasSubstr("small, prodigy (2 studies: left out)"), Not(HasSubstr("dp-hyper")),
                    HasSubstr("title t -> Another"), HasSubstr("--replace"), HasSubstr("hyfreedp diff ")));
  EXPECT_EQ(world.rows("tiny"), before);
  EXPECT_EQ(refusal(world, other, true), "");
  EXPECT_GE(spent(world), cost) << "what was charged is forgotten";
  auto priced = three;
  priced.rows = kProdigy;
  World again;
  again.run(priced.yaml(), first);
  auto at_other_delta = priced.yaml();
  at_other_delta.replace(at_other_delta.find("delta: 1e-5"), 11, "delta: 2e-5");
  auto read = again.read(at_other_delta);
  EXPECT_THAT(enter_spec(again.store(), again.out(), read, false, false).error().message,
              HasSubstr("small, prodigy (2 studies: "));
}

TEST_P(ChangedRows, NothingIsLostWhereNothingBegan) {
  World world;
  FakeExecutor fails;
  fails.prepare_fails = true;
  EXPECT_TRUE(world.run(spec().yaml(), fails).halt);
  auto other = spec();
  other.rows = "      - {id: fixed, method: fixed-rate, options: {lr: 6e-2}}\n" + kProdigy;
  EXPECT_EQ(refusal(world, other), "");
  FakeExecutor works;
  EXPECT_EQ(world.run(other.yaml(), works).studies, 4U);
  EXPECT_THAT(world.store().studies("tiny").value(), SizeIs(4));
}

// Its one run wrote a journal, so that it counts.
TEST_P(ChangedRows, WhatBeganIsLostAndStaysCharged) {
  World world;
  FakeExecutor killed;
  killed.fate = [](const auto&) { return Fate::kill; };
  auto one = spec();
  one.rows = kFixed;
  world.run(one.yaml(), killed);
  const auto cost = spent(world);
  EXPECT_GT(cost, 0);
  auto other = one;
  other.rows = kProdigy;
  EXPECT_THAT(refusal(world, other), HasSubstr("small, fixed (2 studies: left out)"));
  EXPECT_EQ(refusal(world, other, true), "");
  EXPECT_GE(spent(world), cost);
}

TEST_P(ChangedRows, AnotherRuleOfSeedsIsNamed) {
  World world;
  FakeExecutor executor;
  auto written = spec();
  written.rows = kFixed + kProdigy;
  written.seeds = "{until: paired interval of fixed - prodigy is narrower than 1000, from: 4, to: 6}";
  world.run(written.yaml(), executor);
  auto other = written;
  other.title = "Another";
  EXPECT_EQ(refusal(world, other), "");
  other.seeds = "{until: paired interval of fixed - prodigy is narrower than 0.001, from: 4, to: 6}";
  EXPECT_THAT(refusal(world, other), HasSubstr("another rule says how many seeds it needs"));
}

INSTANTIATE_TEST_SUITE_P(Specs, ChangedRows, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "Seeded" : "Unseeded"; });

}  // namespace changed_rows_test
}  // namespace hyfreedp::runner
