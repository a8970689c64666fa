#include "harness/runner/odometer/release_record.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <optional>
#include <set>

#include "harness/random/key_file.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/execute/study_request.h"
#include "results/store/states.h"
#include "results/table/table_model.h"
#include "tests/runner/release_records.h"

namespace hyfreedp::runner {
namespace release_record_test {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(ReleaseRecord, ADeletedDatabaseMakesNoSecondRelease) {
  World world;
  FakeExecutor first;
  world.run(kDrawn, first);
  const auto before = shown(world);
  EXPECT_TRUE(before.is_known);
  EXPECT_GT(before.odometer, 3.0);
  world.forget_database();
  FakeExecutor second;
  const auto report = world.run(kDrawn, second);
  EXPECT_THAT(second.submitted, IsEmpty());
  EXPECT_THAT(second.prepared, IsEmpty());
  EXPECT_EQ(report.known_before, report.studies);
  EXPECT_EQ(shown(world), before);
  EXPECT_FALSE(fs::exists(world.out().draw_key("drawn")));
}

// A second release is one only where it is asked for, and says so; it is not forgotten either.
TEST(ReleaseRecord, AFreshRunAfterTheDatabaseIsGoneIsTheSecondRelease) {
  World world;
  FakeExecutor first;
  world.run(kDrawn, first);
  const auto before = shown(world);
  world.forget_database();
  FakeExecutor second;
  world.run(world.read(kDrawn), second, kNever, true);
  EXPECT_THAT(second.submitted, Not(IsEmpty()));
  for (const auto& id : second.submitted) EXPECT_THAT(first.submitted, Not(Contains(id)));
  for (const auto& study : world.store().studies("drawn").value()) {
    EXPECT_THAT(study.footnotes, Contains(HasSubstr("Release 2")));
  }
  const auto both = shown(world);
  EXPECT_GT(both.odometer, before.odometer);
  EXPECT_TRUE(both.is_known);
  world.forget_database();
  FakeExecutor third;
  world.run(kDrawn, third);
  EXPECT_THAT(third.submitted, IsEmpty());
  EXPECT_EQ(shown(world), both);
}

TEST(ReleaseRecord, OfAPrivateSelectionItHoldsWhatIsReleasedAlone) {
  // Until some selection has drawn more than one run.
  std::optional<World> drawn;
  FakeExecutor executor;
  for (int attempt = 0; attempt < 20 && executor.submitted.size() <= 2; ++attempt) {
    executor = FakeExecutor();
    drawn.emplace();
    drawn->run(spec_of(kSelection), executor);
  }
  auto& world = *drawn;
  const auto path = world.out().release_record("drawn");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(world.out().journals()).permissions(), fs::perms::owner_all);
  std::set<std::string> reported;
  for (const auto& study : world.store().studies("drawn").value()) reported.insert(study.reported_trial);
  ASSERT_GT(executor.submitted.size(), reported.size()) << "there is no losing run to be told of";
  const auto text = read_file(path).value();
  for (const auto& id : executor.submitted) {
    EXPECT_EQ(text.find(id) != std::string::npos, reported.contains(id)) << id;
  }
  const auto record = read_release_records(world.out(), "drawn").value().at(0);
  for (const auto& recorded : record.studies) {
    EXPECT_THAT(recorded.journals, ::testing::ElementsAre(recorded.study.reported_trial));
    const auto run = world.store().trial(recorded.study.reported_trial).value().value();
    EXPECT_EQ(recorded.study.seconds, run.seconds) << "the time of all runs tells how many there were";
  }
}

// As many runs or twice as many: all that differs is which run won, its time, and its value.
TEST(ReleaseRecord, ItsLengthDoesNotFollowTheNumberOfRuns) {
  std::set<std::size_t> lengths;
  std::set<std::size_t> counts;
  for (int i = 0; i < 6; ++i) {
    World world;
    FakeExecutor executor;
    world.run(spec_of(kSelection), executor);
    counts.insert(executor.submitted.size());
    auto record = read_release_records(world.out(), "drawn").value().at(0);
    std::size_t length = 0;
    for (auto& one : record.studies) {
      one.study.seconds = 0;
      length += canonical_json(as_json(one.study)).size();
    }
    lengths.insert(length);
  }
  EXPECT_GT(counts.size(), 1U);
  EXPECT_THAT(lengths, SizeIs(1));
}

TEST(ReleaseRecord, WhatIsInterruptedGoesOnWithoutItsDatabase) {
  World world;
  FakeExecutor first;
  world.run(kDrawn, first, [&] { return first.ended >= 4; });
  ASSERT_TRUE(fs::exists(world.out().draw_key("drawn")));
  EXPECT_FALSE(read_release_records(world.out(), "drawn").value().at(0).complete);
  world.forget_database();
  FakeExecutor second;
  world.run(kDrawn, second);
  EXPECT_TRUE(read_release_records(world.out(), "drawn").value().at(0).complete);
  FakeExecutor third;
  const auto known = shown(world);
  world.forget_database();
  world.run(kDrawn, third);
  EXPECT_THAT(third.submitted, IsEmpty());
  EXPECT_EQ(shown(world), known);
}

// The key of the draws is all that could say which runs an open selection still has to make.
TEST(ReleaseRecord, WithoutItsKeyAnOpenSpecDrawsAgainOnlyWhenAsked) {
  for (const bool database_is_there : {true, false}) {
    World world;
    FakeExecutor first;
    world.run(kDrawn, first, [&] { return first.ended >= 4; });
    ASSERT_TRUE(random::delete_key(world.out().draw_key("drawn")));
    if (!database_is_there) world.forget_database();
    FakeExecutor second;
    const auto refused = try_run(world, kDrawn, second);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("drawn.draws.key"));
    EXPECT_THAT(refused.error().message, HasSubstr("--fresh"));
    EXPECT_THAT(second.submitted, IsEmpty());
    FakeExecutor third;
    ASSERT_TRUE(try_run(world, kDrawn, third, true));
    EXPECT_THAT(world.store().studies("drawn").value().at(0).footnotes, Contains(HasSubstr("Release 2")));
  }
}

// A folder of a program that kept no records: with its database they are made up for, without it
// nothing draws.
TEST(ReleaseRecord, FoldersOfEarlierPrograms) {
  World world;
  FakeExecutor first;
  world.run(kDrawn, first);
  const auto before = shown(world);
  fs::remove(world.out().release_record("drawn"));
  FakeExecutor with_database;
  world.run(kDrawn, with_database);
  EXPECT_THAT(with_database.submitted, IsEmpty());
  EXPECT_TRUE(fs::exists(world.out().release_record("drawn")));
  world.forget_database();
  FakeExecutor rebuilding;
  world.run(kDrawn, rebuilding);
  EXPECT_EQ(shown(world), before);

  fs::remove(world.out().release_record("drawn"));
  world.forget_database();
  FakeExecutor none;
  const auto refused = try_run(world, kDrawn, none);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(world.out().journals()));
  EXPECT_THAT(refused.error().message, HasSubstr("--fresh"));
  EXPECT_THAT(none.submitted, IsEmpty());
  FakeExecutor fresh;
  ASSERT_TRUE(try_run(world, kDrawn, fresh, true));
  EXPECT_THAT(world.store().studies("drawn").value().at(0).footnotes, Contains(HasSubstr("Release 2")));
}

TEST(ReleaseRecord, ASpecThatDrawsNothingIsRebuiltFromJournalsAlone) {
  World world;
  FakeExecutor first;
  world.run(spec_of(kFixed), first);
  const auto before = shown(world);
  fs::remove(world.out().release_record("drawn"));
  expect_rebuilt(world, kFixed, before);
}

TEST(ReleaseRecord, WhichSpecsDraw) {
  World world;
  const auto draws = [&](const std::string& rows) {
    return draws_anything(plan_release(world.read(spec_of(rows))).value());
  };
  EXPECT_TRUE(draws(kSelection));
  EXPECT_TRUE(draws("      - {method: random-search}\n"));
  EXPECT_TRUE(draws("      - {method: linear-scaling, options: {t_min: 2, t_max: 6, r_max: 8}}\n"));
  EXPECT_TRUE(draws("      - {method: dpsgd, options: {tuning: composed, candidates: 2}}\n"));
  EXPECT_FALSE(draws(kFixed + "      - {method: prodigy}\n      - {method: nondp-gs}\n"));
}

// --replace discards the rows of another spec, but a cell that both have was released already.
TEST(ReleaseRecord, AnEditedSpecDoesNotDrawItsOldCellsAgain) {
  World world;
  FakeExecutor first;
  world.run(spec_of(kSelection), first);
  const auto odometer = shown(world).odometer;
  const auto row = world.store().studies("drawn").value().at(0).reported_trial;
  FakeExecutor second;
  ASSERT_TRUE(try_run(world, "description: edited\n" + spec_of(kSelection), second, false, true));
  EXPECT_THAT(second.submitted, IsEmpty());
  EXPECT_EQ(world.store().studies("drawn").value().at(0).reported_trial, row);
  EXPECT_EQ(shown(world).odometer, odometer);
}

// Each time under another key of draws: its open rows would be drawn a second time.
TEST(ReleaseRecord, ASpecThatWasReplacedWhileOpenDoesNotDrawItsRowsAgain) {
  for (const bool other_is_open : {false, true}) {
    World world;
    FakeExecutor first;
    // One of the private selections' two cells is open for sure, of a single run each or more.
    world.run(kDrawn, first, [&] { return first.ended >= 1; });
    FakeExecutor second;
    ASSERT_TRUE(try_run(world, spec_of(kOthers), second, false, true));
    ASSERT_FALSE(fs::exists(world.out().draw_key("drawn")));
    if (other_is_open) {
      auto third = world.read("description: third\n" + kDrawn);
      ASSERT_TRUE(enter_spec(world.store(), world.out(), third, false, true));
      FakeExecutor stopped;
      std::ostream silent(nullptr);
      Progress progress(silent, Progress::Style::none);
      Coordinator coordinator(world.store(), stopped, world.out(), progress);
      ASSERT_TRUE(coordinator.run(third, [] { return true; }));
      ASSERT_TRUE(fs::exists(world.out().draw_key("drawn")));
    }
    FakeExecutor again;
    const auto refused = try_run(world, kDrawn, again, false, true);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("--fresh"));
    EXPECT_THAT(again.submitted, IsEmpty());
    const auto fresh = try_run(world, kDrawn, again, true, true);
    ASSERT_TRUE(fresh) << fresh.error().message;
    EXPECT_THAT(world.store().studies("drawn").value().at(0).footnotes, Contains(HasSubstr("Release 2")));
  }
}

TEST(ReleaseRecord, OtherSpecsOfTheFolderComeBackToo) {
  World world;
  FakeExecutor first;
  world.run(kDrawn, first);
  world.run(spec_of(kFixed, "other"), first);
  const auto before = shown(world);
  world.forget_database();
  FakeExecutor second;
  world.run(spec_of(kFixed, "other"), second);
  EXPECT_EQ(shown(world), before);
  EXPECT_THAT(second.submitted, IsEmpty());
}

TEST(ReleaseRecord, WhatARowNeedsAndLacksIsSaid) {
  World world;
  FakeExecutor first;
  world.run(spec_of(kSelection), first);
  const auto before = shown(world);
  const auto reported = world.store().studies("drawn").value().at(0).reported_trial;
  for (const auto& id : first.submitted) {
    const auto studies = world.store().studies("drawn").value();
    const bool wins = std::ranges::any_of(studies, [&](const auto& s) { return s.reported_trial == id; });
    if (!wins) fs::remove(world.out().journal(id));
  }
  world.forget_database();
  FakeExecutor second;
  world.run(spec_of(kSelection), second);
  EXPECT_EQ(shown(world), before) << "a losing run's journal is not needed";

  fs::rename(world.out().journal(reported), world.out().journal(reported) + ".away");
  world.forget_database();
  const auto refused = try_run(world, spec_of(kSelection), second);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(world.out().journal(reported)));
  EXPECT_THAT(refused.error().message, HasSubstr("--fresh"));
  EXPECT_THAT(second.submitted, IsEmpty());
}

// The database and the record of one spec of several are lost: its journals are nobody's.
TEST(ReleaseRecord, JournalsThatNothingNamesForbidASecondReleaseBesideOtherSpecs) {
  for (const bool are_readable : {true, false}) {
    World world;
    FakeExecutor first;
    world.run(kDrawn, first);
    FakeExecutor other;
    world.run(spec_of(kFixed, "other"), other);
    fs::remove(world.out().release_record("drawn"));
    if (!are_readable) {
      for (const auto& id : first.submitted)
        ASSERT_TRUE(write_file_atomically(world.out().journal(id), "not a\njournal\n"));
    }
    world.forget_database();
    FakeExecutor second;
    const auto refused = try_run(world, kDrawn, second);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr(world.out().journals()));
    EXPECT_THAT(second.submitted, IsEmpty());
    ASSERT_TRUE(try_run(world, spec_of(kFixed, "third"), second)) << "a spec that draws nothing";
  }
}

// Database and record of a private selection were lost, so what it released is in no reading. A
// later release of the same rows does not explain its journals: neither while the database knows
// that, nor when the record alone does.
TEST(ReleaseRecord, JournalsOfAForgottenReleaseAreNotThoseOfTheNext) {
  World world;
  const auto forget = [&] {
    fs::remove(world.out().release_record("drawn"));
    world.forget_database();
  };
  // At least two runs: one would be taken for the reported one, which rows list.
  const auto release = [&](bool fresh) {
    FakeExecutor executor;
    EXPECT_TRUE(try_run(world, spec_of(kSelection), executor, fresh));
    return executor.submitted.size();
  };
  while (release(false) < 4) {
    forget();
    fs::remove_all(world.out().journals());
  }
  for (const std::int64_t number : {1, 2}) {
    forget();
    ASSERT_GT(release(true), 0u);
    EXPECT_EQ(results::spec_of(*world.store().spec("drawn").value())->release, number);
    EXPECT_FALSE(shown(world).is_known);
    world.forget_database();
    FakeExecutor third;
    ASSERT_TRUE(try_run(world, spec_of(kFixed, "third"), third));
    EXPECT_FALSE(shown(world).is_known);
  }
}

// Losing runs are named nowhere, but their selection is known.
TEST(ReleaseRecord, ASpecThatDrawsMayFollowOneWhoseRunsAreKnown) {
  World world;
  FakeExecutor first;
  world.run(kDrawn, first);
  FakeExecutor second;
  ASSERT_TRUE(try_run(world, spec_of(kOthers, "second"), second));
  world.forget_database();
  FakeExecutor third;
  const auto run = try_run(world, spec_of("      - {method: random-search}\n", "third"), third);
  ASSERT_TRUE(run) << run.error().message;
}

TEST(ReleaseRecord, AChangedRecordIsRefused) {
  World world;
  FakeExecutor first;
  world.run(spec_of(kSelection), first);
  const auto path = world.out().release_record("drawn");
  const auto text = read_file(path).value();
  auto changed = text;
  changed.replace(changed.find("end-to-end DP"), 13, "End-to-end DP");
  for (const auto& content : {std::string(), std::string("[]"), text.substr(0, text.size() / 2), changed}) {
    write_file_atomically(path, content, 0600).value();
    const auto read = read_release_records(world.out(), "drawn");
    ASSERT_FALSE(read) << content;
    EXPECT_THAT(read.error().message, HasSubstr(path));
    world.forget_database();
    FakeExecutor second;
    EXPECT_FALSE(try_run(world, spec_of(kSelection), second));
    EXPECT_THAT(second.submitted, IsEmpty());
  }
}

}  // namespace release_record_test
}  // namespace hyfreedp::runner
