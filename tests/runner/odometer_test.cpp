#include "harness/runner/odometer/odometer.h"

#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>

#include "harness/mechanism/releases.h"
#include "harness/runner/execute/budget.h"
#include "results/provenance/export.h"
#include "tests/runner/spending_world.h"

namespace hyfreedp::runner {
namespace odometer_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using namespace spending;

std::int64_t steps_on(const Spending& spending, const std::string& split) {
  std::int64_t steps = 0;
  if (!spending.splits.contains(split)) return 0;
  for (const auto& event : spending.splits.at(split).events()) {
    steps += std::get<accounting::Batch>(event.what).count;
  }
  return steps;
}

TEST(Odometer, ComposesEveryRowAndSeedAndCountsSharedRunsOnce) {
  World world;
  FakeExecutor executor;
  world.run(spec_of("tiny", kGrids + kFixed), executor);
  const auto spending = only(world);
  constexpr int kRuns = 2 * 4;  // seeds x (three rates of both grids, and the fixed one)
  EXPECT_EQ(spending.runs, kRuns);
  EXPECT_EQ(steps_on(spending, "private_train"), kRuns * 6);
  EXPECT_EQ(spending.oracle_scores, 2 * 3);
  EXPECT_EQ(spending.non_private_runs, 0);
  EXPECT_TRUE(spending.reproducible_noise);

  std::vector<accounting::Event> all;
  for (const auto& trial : world.store().trials().value()) {
    all.insert(all.end(), trial.events.begin(), trial.events.end());
  }
  EXPECT_NEAR(epsilon_of(spending), accounting::report_epsilon({.events = all}, kDelta)->epsilon, 1e-6);
  EXPECT_LE(spending.tables.at("tiny"), 3.0);
  EXPECT_GT(epsilon_of(spending), 2 * spending.tables.at("tiny"));

  // The same spec under another name needs the same runs: nothing is added but its table.
  FakeExecutor none;
  world.run(spec_of("again", kGrids + kFixed), none);
  EXPECT_THAT(none.submitted, IsEmpty());
  EXPECT_EQ(epsilon_of(world), epsilon_of(spending));
  EXPECT_THAT(only(world).tables, SizeIs(2));
}

// A search of which no run can be reported ends early, which follows from the data: row and
// odometer say what was planned.
TEST(Odometer, ASearchThatEndedEarlyCountsAsPlanned) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::diverge; };
  world.run(spec_of("early", kTwoRounds), executor);
  const auto study = world.store().studies("early").value().at(0);
  EXPECT_EQ(study.failure_kind, "all-trials-failed");
  ASSERT_TRUE(study.total);
  EXPECT_GT(study.total->epsilon, 2.9);
  EXPECT_LE(study.total->epsilon, 3.0);
  EXPECT_NEAR(epsilon_of(world),
              accounting::report_epsilon(
                  trial::compose(study.composition,
                                 [&](const std::string& id) -> Result<std::vector<accounting::Event>> {
                                   return world.store().trial(id).value()->events;
                                 })
                      .value(),
                  kDelta)
                  ->epsilon,
              1e-6);
}

// Those of two epsilons that share their sweeps were about to end with other runs.
TEST(Odometer, SearchesThatShareTheirRunsAndEndedEarlyAreChargedEach) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::diverge; };
  world.run(
      spec_of(
          "early",
          "      - {method: linear-scaling, options: {t_min: 2, t_max: 6, r_max: 8, sweep_epsilons: [0.1, "
          "0.2], score_noise: 300}}\n",
          "[2, 8]"),
      executor);
  double largest = 0;
  for (const auto& study : world.store().studies("early").value()) {
    ASSERT_EQ(study.failure_kind, "all-trials-failed");
    ASSERT_TRUE(study.total);
    largest = std::max(largest, study.total->epsilon);
  }
  EXPECT_GT(largest, 7);
  EXPECT_GT(epsilon_of(world), largest);
}

// Two rows whose first sweep is one point have equal first runs and would have drawn others next.
TEST(Odometer, SearchesOfTwoRowsThatBeginAlikeAndEndedEarlyAreChargedEach) {
  const auto row = [](const std::string& id, const std::string& more) {
    return "      - {id: " + id +
           ", method: linear-scaling, options: {decompose: fixed-t, t_min: 4, t_max: 4, runs_per_sweep: 2, "
           "eta_min: 0.1, eta_max: 1, r_max: 4, share1: 0.02, share2: 0.1" +
           more + "}}\n";
  };
  const auto spent = [](const std::string& rows) {
    World world;
    FakeExecutor executor;
    executor.fate = [](const auto&) { return Fate::diverge; };
    world.run(spec_of("early", rows), executor);
    return epsilon_of(world);
  };
  const auto one = row("one", ""), two = row("two", ", r_sampling: log-uniform");
  EXPECT_GT(spent(one + two), 1.2 * spent(one));
}

TEST(Odometer, NonPrivateRunsAndUnNoisedScoresMakeItInfinite) {
  World world;
  FakeExecutor executor;
  world.run(spec_of("tiny", kFixed), executor);
  EXPECT_FALSE(only(world).is_infinite());
  const auto before = epsilon_of(world);
  FakeExecutor more;
  world.run(spec_of("free", kFixed, "[inf]"), more);
  const auto spending = only(world);
  EXPECT_EQ(spending.non_private_runs, 2);
  EXPECT_TRUE(spending.is_infinite());
  EXPECT_EQ(epsilon_of(spending), before) << "the private part stays";
}

TEST(Odometer, WhatWasKilledOrIsRunningCountsAsBooked) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto& config) { return config.seed == 0 ? Fate::kill : Fate::cancel; };
  world.run(spec_of("tiny", kFixed), executor);
  // Two steps were executed, six were booked; of the cancelled run there is a journal alone.
  EXPECT_EQ(steps_on(only(world), "private_train"), 2 * 6);
  const auto before = epsilon_of(world);
  EXPECT_GT(before, 0);

  // Without its row, and without the database: the journals know.
  world.forget_database();
  EXPECT_EQ(epsilon_of(world), before);

  // On another machine everything is booked anew.
  FakeExecutor again;
  again.machine = "another";
  world.run(spec_of("tiny", kFixed), again);
  EXPECT_EQ(steps_on(only(world), "private_train"), 2 * 12);
  EXPECT_GT(epsilon_of(world), before);
}

TEST(Odometer, ADamagedJournalIsNamed) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::cancel; };
  world.run(spec_of("tiny", kFixed), executor);
  const auto path = world.out().journal(executor.submitted.at(0));
  auto text = read_file(path).value();
  text[text.find("attempt")] = 'x';
  ASSERT_TRUE(write_file_atomically(path, text));
  write_file_atomically(world.out().journal("unborn"), "{\"type\":\"st").value();
  const auto odometer = odometer_of(world.store(), world.out()).value();
  ASSERT_THAT(odometer.unreadable, SizeIs(1));
  EXPECT_THAT(odometer.unreadable.at(0), HasSubstr(path));
  EXPECT_FALSE(Budget::open(world.store(), world.out(), Cap{100, {}}));
}

// A record lies in one split: the larger counts. Within a split everything composes.
TEST(Odometer, DisjointSplitsInParallelOneSplitInSequence) {
  World world;
  auto config = any_config();
  const auto put = [&](std::vector<accounting::Event> events) {
    ++config.repetition;
    ASSERT_TRUE(world.store().put_trial(record_of(config, std::move(events)), {}, {}));
  };
  const auto alone = [](const accounting::Event& event) {
    return accounting::report_epsilon({.events = {event}}, kDelta)->epsilon;
  };
  put({on("private_train", 1.0)});
  const double train = epsilon_of(world);
  EXPECT_EQ(train, alone(on("", 1.0)));
  put({on("private_validation", 2.0)});
  EXPECT_EQ(epsilon_of(world), train);
  const auto spending = only(world);
  EXPECT_EQ(read_odometer(spending, kDelta)->splits.at("private_validation").epsilon, alone(on("", 2.0)));
  EXPECT_EQ(read_odometer(spending, kDelta, "private_validation")->total.epsilon, alone(on("", 2.0)));
  const auto unknown = read_odometer(spending, kDelta, "private_trian");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("Did you mean 'private_train'?"));
  put({on("private_train", 1.0)});
  EXPECT_EQ(epsilon_of(world), alone(on("", 1.0, 20)));
  EXPECT_GT(epsilon_of(world), train);
  // A split is kept from the journal's event to the exported one.
  const auto exported =
      canonical_json(results::export_events(world.store(), world.store().trials()->at(1).id, true).value());
  EXPECT_THAT(exported, HasSubstr("\"split\":\"private_validation\""));
}

TEST(Odometer, FeaturesAreOptionsButPeopleAreNot) {
  World world;
  auto config = any_config();
  ASSERT_TRUE(world.store().put_trial(record_of(config, {on("private_train", 1.0)}), {}, {}));
  config.dataset.options = {{"features", "pixels"}};
  ASSERT_TRUE(world.store().put_trial(record_of(config, {on("private_train", 1.0)}), {}, {}));
  EXPECT_EQ(steps_on(only(world), "private_train"), 20);
  EXPECT_EQ(only(world).title(), "fashion-mnist");
  EXPECT_NEAR(default_delta(only(world)), std::pow(50000.0, -1.1), 1e-12);
  // Generated data with other options are other data.
  auto made = any_config("synthetic");
  for (const int train : {1000, 2000}) {
    made.dataset.options["train"] = train;
    ASSERT_TRUE(world.store().put_trial(record_of(made, {on("private_train", 1.0)}), {}, {}));
  }
  const auto odometer = odometer_of(world.store(), world.out()).value();
  ASSERT_THAT(odometer.data, SizeIs(3));
  EXPECT_THAT(odometer.data.at(1).title(), HasSubstr("train 1000"));
  EXPECT_EQ(steps_on(odometer.data.at(2), "private_train"), 10);
  // A part of the data is not other data.
  for (const char* part : {"tuning", "rest"}) {
    made.dataset.options["part"] = part;
    made.dataset.options["part_rate"] = 0.5;
    made.dataset.options["part_key"] = "key";
    ASSERT_TRUE(world.store().put_trial(record_of(made, {on("private_train", 1.0)}), {}, {}));
  }
  EXPECT_THAT(odometer_of(world.store(), world.out()).value().data, SizeIs(3));
}

// Neither sizes nor features make other data of a user's folder, nor does another way to write its
// place.
TEST(Odometer, AUsersFolderIsOneDatasetUnderAllOptions) {
  World world;
  auto config = any_config("image-folder");
  for (const json::object& options :
       {json::object{{"path", "mine.tar"}, {"train", 1000}},
        {{"path", "/data/mine.tar"}, {"train", 1000}},
        {{"path", "mine/."}, {"train", 1000}},
        {{"path", "mine.tar"}, {"train", 1000}, {"side", 64}, {"sha256", "other"}},
        {{"path", "other/mine.tar.gz"}, {"train", 1000}},
        {{"path", "folder/"}, {"train", 1000}}}) {
    config.dataset.options = options;
    ASSERT_TRUE(world.store().put_trial(record_of(config, {on("private_train", 1.0)}), {}, {}));
  }
  const auto odometer = odometer_of(world.store(), world.out()).value();
  ASSERT_THAT(odometer.data, SizeIs(2));
  EXPECT_EQ(odometer.data.at(0).title(), "image-folder (folder)");
  EXPECT_EQ(odometer.data.at(1).title(), "image-folder (mine)");
  EXPECT_EQ(steps_on(odometer.data.at(1), "private_train"), 50);
}

// A copy under another name has the same mark; files that were changed under one name have another.
TEST(Odometer, FilesAreOneDatasetWhereTheyShareANameOrAMark) {
  World world;
  auto config = any_config("table-file");
  const auto put = [&](const std::string& path, const std::string& mark) {
    config.dataset.options = {{"path", path}, {"files_mark", mark}, {"train", 1000}};
    ASSERT_TRUE(world.store().put_trial(record_of(config, {on("private_train", 1.0)}), {}, {}));
  };
  const auto titles = [&] {
    std::vector<std::string> all;
    for (const auto& one : odometer_of(world.store(), world.out()).value().data) all.push_back(one.title());
    return all;
  };
  put("people.csv", "a");
  put("folks.csv", "a");
  EXPECT_THAT(titles(), ElementsAre("table-file (folks) = table-file (people)"));
  EXPECT_EQ(steps_on(only(world), "private_train"), 20);
  put("others.csv", "b");
  put("third.csv", "c");
  EXPECT_THAT(titles(), SizeIs(3));
  // It has the name of one and the mark of another, and makes all of them one.
  put("others.csv", "c");
  put("people.csv", "b");
  EXPECT_THAT(titles(), SizeIs(1));
  EXPECT_EQ(steps_on(only(world), "private_train"), 60);
}

// What runs showed while a spec declared the data public has no noise, and no later declaration
// takes it back.
TEST(Odometer, DataThatWereDeclaredPublicHaveNoEpsilonOnceTheyArePrivate) {
  World world;
  auto config = any_config("image-folder");
  const auto put = [&](const json::object& options) {
    config.dataset.options = options;
    ASSERT_TRUE(world.store().put_trial(record_of(config, {on("private_train", 1.0)}), {}, {}));
  };
  put({{"path", "mine"}, {"train", 1000}, {"public", true}});
  EXPECT_FALSE(only(world).is_infinite()) << only(world).what_has_no_epsilon();
  put({{"path", "mine"}, {"train", 1000}});
  EXPECT_EQ(only(world).what_has_no_epsilon(), "1 run of specs that declared the data public");
  EXPECT_FALSE(is_within(only(world), 1e6, 1e-5).value());

  // Other public data, of which nobody knows whether they are the same.
  put({{"path", "theirs"}, {"train", 1000}, {"public", true}});
  const auto odometer = odometer_of(world.store(), world.out()).value();
  EXPECT_THAT(odometer.may_be(*odometer.find("image-folder (mine)")), ElementsAre("image-folder (theirs)"));
  EXPECT_THAT(odometer.may_be(*odometer.find("image-folder (theirs)")), IsEmpty()) << "they are nobody's";
}

// Nothing that the odometer shows depends on how many runs a private selection made, at whatever
// moment it is read.
TEST(Odometer, APrivateSelectionCountsAsOneWhateverBecomesOfIt) {
  std::set<std::size_t> numbers;
  std::set<double> epsilons;
  std::set<std::int64_t> declared_public;
  for (const std::string seed : {"a", "b", "c"}) {
    World world;
    FakeExecutor first;
    const auto spec = spec_of("selection", kSelection, "[8]", seed);
    world.run(spec, first, [&] { return first.ended >= 3; });  // stopped in the midst of it
    epsilons.insert(epsilon_of(world));
    declared_public.insert(only(world).public_runs);
    EXPECT_FALSE(only(world).has_unknown_selection);
    FakeExecutor second;
    second.fate = [&](const auto& config) {
      return config.id() == second.submitted.back() ? Fate::kill : Fate::finish;
    };
    second.order = Order::last_in;
    EXPECT_TRUE(world.run(spec, second).failed_unexpectedly());
    epsilons.insert(epsilon_of(world));
    FakeExecutor third;
    world.run(spec, third);
    epsilons.insert(epsilon_of(world));
    EXPECT_EQ(only(world).selections, 2U);  // seeds
    declared_public.insert(only(world).public_runs);
    numbers.insert(world.store().trials()->size());

    // Replaced by another spec of its name, its cost stays.
    auto other = world.read("description: other\n" + spec);
    ASSERT_TRUE(enter_spec(world.store(), world.out(), other, false, true));
    ASSERT_THAT(world.store().studies("selection").value(), IsEmpty());
    epsilons.insert(epsilon_of(world));
    EXPECT_FALSE(only(world).has_unknown_selection);
  }
  EXPECT_GT(numbers.size(), 1U);
  EXPECT_THAT(epsilons, SizeIs(1));
  EXPECT_THAT(declared_public, ElementsAre(1));
}

// Also where other data are found between them.
TEST(Odometer, HiddenRunsOfDataThatAreDeclaredPublicCountAsOne) {
  World world;
  FakeExecutor executor;
  world.run(spec_of("selection", kSelection, "[8]"), executor);
  for (const std::string data : {"1001", "1002", "1003", "1004", "1005", "1006"}) {
    const auto spec = spec_of("fixed-" + data, kFixed, "[8]");
    world.run(boost::replace_all_copy(spec, "train: 2000", "train: " + data), executor);
  }
  const auto odometer = odometer_of(world.store(), world.out()).value();
  ASSERT_THAT(odometer.data, SizeIs(7));
  for (const auto& one : odometer.data) EXPECT_EQ(one.public_runs, one.selections > 0 ? 1 : 2) << one.title();
}

// A Poisson number of runs may be 0. That output costs what any other does, in the row and in the
// sum.
TEST(Odometer, ASelectionThatDrewNoRunCostsWhatAnyDoes) {
  const std::string rows =
      "      - {method: dp-hyper, options: {runs: poisson, mean_runs: 1.01, score_noise: 300}}\n";
  std::set<double> epsilons;
  std::set<double> totals;
  int without_runs = 0;
  int with_runs = 0;
  for (const std::string seed : {"a", "b", "c", "d", "e", "f"}) {
    World world;
    FakeExecutor executor;
    world.run(spec_of("selection", rows, "[8]", seed), executor);
    for (const auto& study : world.store().studies("selection").value()) {
      ASSERT_TRUE(study.total);
      totals.insert(study.total->epsilon);
      ++(study.failure_kind == "no-run-drawn" ? without_runs : with_runs);
    }
    EXPECT_EQ(only(world).selections, 2U);  // seeds
    EXPECT_EQ(only(world).tables.at("selection"), *totals.begin());
    epsilons.insert(epsilon_of(world));
    auto other = world.read("description: other\n" + spec_of("selection", rows, "[8]", seed));
    ASSERT_TRUE(enter_spec(world.store(), world.out(), other, false, true));
    epsilons.insert(epsilon_of(world));
  }
  EXPECT_GT(without_runs, 0);
  EXPECT_GT(with_runs, 0);
  EXPECT_THAT(totals, SizeIs(1));
  EXPECT_THAT(epsilons, SizeIs(1));
}

TEST(Odometer, TheRowOfASelectionAndTheOdometerAgree) {
  World world;
  FakeExecutor executor;
  world.run(spec_of("selection", kSelection, "[8]"), executor);
  const auto study = world.store().studies("selection").value().at(0);
  ASSERT_TRUE(study.total);
  auto spending = only(world);
  EXPECT_GT(epsilon_of(spending), study.total->epsilon);
  // Two seeds made two equal selections; one of them costs what its row says.
  for (auto& [split, tally] : spending.splits) {
    auto event = tally.events().at(0);
    std::get<accounting::Repeat>(event.what).count = 1;
    tally = trial::EventTally({event});
  }
  EXPECT_NEAR(epsilon_of(spending), study.total->epsilon, 1e-9);
}

TEST(Odometer, OneSelectionUnderTwoNamesCountsOnce) {
  World world;
  FakeExecutor executor;
  world.run(spec_of("one", kSelection, "[8]"), executor);
  const auto before = epsilon_of(world);
  FakeExecutor none;
  world.run(spec_of("two", kSelection, "[8]"), none);
  EXPECT_THAT(none.submitted, IsEmpty());
  EXPECT_EQ(epsilon_of(world), before);
}

// Where options cut the splits differently, one record may have been in both.
TEST(Odometer, SplitsThatDifferBetweenRunsComposeInSequence) {
  Spending spending{.data = {.names = {"d"}}, .records = 1000};
  spending.add({on("private_train", 1.0), on("private_validation", 1.0)});
  const double apart = epsilon_of(spending);
  spending.splits_differ = true;
  const auto reading = read_odometer(spending, kDelta).value();
  EXPECT_THAT(reading.splits, SizeIs(1));
  EXPECT_TRUE(reading.splits.contains(kAllSplits));
  EXPECT_EQ(reading.total.epsilon,
            accounting::report_epsilon({.events = {on("", 1.0, 20)}}, kDelta)->epsilon);
  EXPECT_GT(reading.total.epsilon, apart);
}

// Runs with a score that no row speaks for: their number may be that of a selection.
TEST(Odometer, RunsOfAnUnknownSelectionAreLeftOutAndSaidToBe) {
  World world;
  auto config = any_config();
  ASSERT_TRUE(world.store().put_trial(record_of(config, mechanism::events(config)), {}, {}));
  const auto before = epsilon_of(world);
  config.evaluation.score = trial::ScoreRelease{300};
  ASSERT_TRUE(world.store().put_trial(record_of(config, mechanism::events(config)), {}, {}));
  EXPECT_TRUE(only(world).has_unknown_selection);
  EXPECT_EQ(epsilon_of(world), before);
  const auto all = only(world, {.confidential = true});
  EXPECT_FALSE(all.has_unknown_selection);
  EXPECT_GT(epsilon_of(all), before);
  EXPECT_EQ(steps_on(all, "private_validation"), 1);
}

// An option says how these runs compose, so the method alone does not: a selection is booked when
// it opens, and a row without a rule is not one.
TEST(Odometer, RunsOfAnOpenCompositionAreKnownWhereItsMethodMayAlsoSelect) {
  World world;
  auto config = any_config("synthetic");
  config.evaluation.score = trial::ScoreRelease{300};
  const auto record = record_of(config, mechanism::events(config));
  ASSERT_TRUE(world.store().put_trial(record, {}, {}));
  ASSERT_TRUE(only(world).has_unknown_selection);
  FakeExecutor executor;
  world.run(spec_of("tiny", kFixed), executor);
  auto study = world.store().studies("tiny").value().at(0);
  study.id = "open";
  study.method = "dpsgd";
  study.state = results::StudyState::open;
  study.composition = {};
  study.total.reset();
  study.trials = {record.id};
  ASSERT_TRUE(world.store().put_study(study));
  EXPECT_FALSE(only(world).has_unknown_selection);
  EXPECT_EQ(steps_on(only(world), "private_validation"), 1);
}

// Liu and Talwar's price composes with nothing, but theirs is a search with a geometric number of
// runs.
TEST(Odometer, ASelectionAtLiuAndTalwarsPriceComposesAsTheGeometricOneThatItIs) {
  using Distribution = accounting::Selection::Distribution;
  std::vector<double> epsilons;
  for (const auto distribution : {Distribution::liu_talwar, Distribution::truncated_negative_binomial}) {
    Spending spending{.data = {.names = {"d"}}, .records = 1000};
    spending.add_selection({.distribution = distribution,
                            .eta = distribution == Distribution::liu_talwar ? 0.0 : 1.0,
                            .mean = 4,
                            .base = {on("private_train", 4.0)}});
    spending.add({on("private_train", 4.0)});
    epsilons.push_back(epsilon_of(spending));
  }
  EXPECT_EQ(epsilons[0], epsilons[1]);
}

// A run begun anew on another machine executed more than the one reported; the selection is priced
// by the dearest.
TEST(Odometer, ARestartedLoserRaisesThePriceOfItsSelection) {
  const auto spec = spec_of("selection", kSelection, "[8]");
  World clean;
  FakeExecutor undisturbed;
  clean.run(spec, undisturbed);
  const auto before = clean.store().studies("selection").value().at(0);
  const auto loser = *std::ranges::find_if(undisturbed.submitted, [&](const auto& id) {
    return before.trials.at(0) == id || id != before.reported_trial;
  });
  ASSERT_NE(loser, before.reported_trial);

  World world;
  FakeExecutor executor;
  executor.fate = [&](const auto& config) { return config.id() == loser ? Fate::kill : Fate::finish; };
  world.run(spec, executor);
  FakeExecutor again;
  again.machine = "another";
  world.run(spec, again);
  const auto after = world.store().studies("selection").value().at(0);
  EXPECT_EQ(after.reported_trial, before.reported_trial);
  EXPECT_GT(after.total->epsilon, before.total->epsilon);
  EXPECT_EQ(after.training->epsilon, before.training->epsilon);
  EXPECT_THAT(after.flags, ::testing::Contains(HasSubstr("interrupted")));
  EXPECT_GT(epsilon_of(world), epsilon_of(clean));
}

// Disjoint splits compose in parallel: the dearer decides, whichever it is, also for a budget.
TEST(Odometer, TheDearerSplitDecidesWhicheverItIs) {
  const auto alone = [](const std::vector<accounting::Event>& events) {
    return accounting::report_epsilon({.events = events}, kDelta)->epsilon;
  };
  const double cheap = alone({on("", 8)}), dear = alone({on("", 2)}), both = alone({on("", 8), on("", 2)});
  for (const auto& [first, second] :
       {std::pair{"private_train", "private_validation"}, std::pair{"private_validation", "private_train"}}) {
    SCOPED_TRACE(first);
    Spending spending;
    spending.add({on(first, 2), on(second, 8)});
    const auto reading = read_odometer(spending, kDelta).value();
    EXPECT_DOUBLE_EQ(reading.total.epsilon, dear);
    EXPECT_DOUBLE_EQ(reading.splits.at(first).epsilon, dear);
    EXPECT_DOUBLE_EQ(reading.splits.at(second).epsilon, cheap);
    EXPECT_TRUE(is_within(spending, dear, kDelta).value());
    EXPECT_FALSE(is_within(spending, 0.999 * dear, kDelta).value());
    spending.splits_differ = true;  // a record may be in both
    EXPECT_DOUBLE_EQ(read_odometer(spending, kDelta)->total.epsilon, both);
    EXPECT_FALSE(is_within(spending, 0.999 * both, kDelta).value());
  }
}

}  // namespace odometer_test
}  // namespace hyfreedp::runner
