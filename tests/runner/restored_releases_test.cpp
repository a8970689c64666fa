// What releases cost outlives journals, keys and the database.
#include "harness/runner/odometer/restored_releases.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <optional>

#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/execute/study_request.h"
#include "harness/runner/odometer/release_record.h"
#include "results/store/states.h"
#include "tests/runner/release_records.h"

namespace hyfreedp::runner {
namespace restored_releases_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The odometer is about the folder: what other specs cost comes back, and a new release needs no
// journal of an old one.
TEST(ReleaseRecord, WhatAllSpecsCostComesBackThoughARowCannot) {
  World world;
  FakeExecutor runs;
  world.run(spec_of(kFixed), runs);
  world.run(spec_of(kOthers, "second"), runs);
  world.run(world.read(spec_of(kOthers, "second")), runs, kNever, true);
  const auto before = shown(world).odometer;
  lose_journals(world);
  world.forget_database();
  FakeExecutor again;
  EXPECT_FALSE(try_run(world, spec_of(kFixed), again));
  EXPECT_EQ(shown(world).odometer, before);
  EXPECT_TRUE(shown(world).is_known);
  ASSERT_TRUE(try_run(world, spec_of(kFixed), again, true));
  EXPECT_GT(shown(world).odometer, before);
}

// A selection whose journals are lost keeps its cost and its answer, whatever its user asks for.
TEST(ReleaseRecord, ALostSelectionIsNeitherCancelledNorOpenedAgain) {
  World world;
  FakeExecutor executor;
  world.run(spec_of(kSelection), executor);
  const auto before = shown(world);
  const fs::path away = world.out().root + "/away";
  fs::rename(world.out().journals(), away);
  fs::create_directories(world.out().journals());
  fs::copy_file(away / "drawn.releases.json", world.out().release_record("drawn"));
  world.forget_database();
  EXPECT_FALSE(try_run(world, spec_of(kSelection), executor));
  StudyRequest request{.kind = StudyRequest::Kind::cancel, .studies = {}};
  for (const auto& study : world.store().studies("drawn").value()) {
    EXPECT_TRUE(results::is_lost(study)) << study.failure_kind;
    EXPECT_TRUE(why_not_retried(study, false));
    request.studies.push_back(study.id);
  }
  ASSERT_TRUE(carry_out(world.store(), world.out(), request));
  EXPECT_EQ(shown(world).odometer, before.odometer);
  // The record is written anew from the database, as when another row is cancelled.
  ASSERT_TRUE(update_release_record(world.store(), world.out(), "drawn"));
  EXPECT_FALSE(try_run(world, spec_of(kSelection), executor));
  world.forget_database();
  EXPECT_FALSE(try_run(world, spec_of(kSelection), executor));
  EXPECT_EQ(shown(world).odometer, before.odometer);
  // With its journals it is what it was.
  for (const auto& entry : fs::directory_iterator(away)) {
    if (entry.path().extension() == ".jsonl")
      fs::copy_file(entry.path(), world.out().journals() + "/" + entry.path().filename().string());
  }
  FakeExecutor none;
  world.run(spec_of(kSelection), none);
  EXPECT_THAT(none.submitted, IsEmpty());
  EXPECT_EQ(shown(world), before);
}

// The record of a spec that is not complete has the rows that are.
TEST(ReleaseRecord, ARowIsRecordedThoughTheSpecIsNotComplete) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const trial::TrialConfig& config) {
    return config.optimizer.name == "prodigy" ? Fate::kill : Fate::finish;
  };
  world.run(kDrawn, executor);
  const auto answered = std::ranges::count_if(world.store().studies("drawn").value(), results::is_answered);
  ASSERT_GT(answered, 0);
  ASSERT_LT(answered, std::ssize(world.store().studies("drawn").value()));
  lose_journals(world);
  world.forget_database();
  FakeExecutor second;
  const auto refused = try_run(world, kDrawn, second);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("second release"));
  EXPECT_THAT(second.submitted, IsEmpty());
}

// Nobody reads the rows of an earlier release again, but the odometer has them.
TEST(ReleaseRecord, WhatAnEarlierReleaseCostOutlivesItsJournalsAndTheDatabase) {
  World world;
  FakeExecutor first;
  world.run(spec_of(kFixed), first);
  FakeExecutor second;
  world.run(world.read(spec_of(kFixed)), second, kNever, true);
  const auto before = shown(world);
  for (const auto& id : first.submitted) fs::remove(world.out().journal(id));
  EXPECT_EQ(shown(world), before);
  expect_rebuilt(world, kFixed, before);
}

// What was under way, too, when another spec took the place of one that was interrupted.
TEST(ReleaseRecord, WhatAnInterruptedReleaseCostOutlivesAllButTheRecord) {
  const std::string under_way = "      - {id: other, method: fixed-rate, options: {lr: 1e-1}}\n";
  for (const auto& rows : {kOthers, kSelection, under_way}) {
    World world;
    FakeExecutor first;
    if (rows == under_way) first.fate = [](const auto&) { return Fate::linger; };
    world.run(spec_of(rows), first, [&] { return first.ended >= 1; });
    FakeExecutor second;
    ASSERT_TRUE(try_run(world, spec_of(kFixed), second, false, true));
    const auto before = shown(world);
    const auto fixed_alone = [&] {
      World other;
      FakeExecutor runs;
      other.run(spec_of(kFixed), runs);
      return shown(other).odometer;
    }();
    EXPECT_GT(before.odometer, fixed_alone) << rows;
    const auto kept = fs::path(world.out().release_record("drawn")).filename();
    for (const auto& folder : {world.out().journals(), world.out().keys()}) {
      for (const auto& entry : fs::directory_iterator(folder)) {
        const bool is_seconds = std::ranges::count(second.submitted, entry.path().stem().string()) > 0;
        if (!is_seconds && entry.path().filename() != kept) fs::remove(entry.path());
      }
    }
    world.forget_database();
    FakeExecutor third;
    const auto again = try_run(world, spec_of(kFixed), third);
    if (again) {
      EXPECT_GE(shown(world).odometer, before.odometer) << rows;
    } else {
      ADD_FAILURE() << again.error().message;
    }
  }
}

// The same where nothing took its place: what ended cleanly had cost what it had cost.
TEST(ReleaseRecord, WhatAnOpenRowCostOutlivesAllButTheRecord) {
  const std::string under_way = "      - {id: other, method: fixed-rate, options: {lr: 1e-1}}\n";
  for (const bool keys_are_lost : {false, true}) {
    for (const auto& rows : {kOthers, kSelection, under_way}) {
      World world;
      FakeExecutor first;
      if (rows == under_way) first.fate = [](const auto&) { return Fate::linger; };
      world.run(spec_of(rows), first, [&] { return first.ended >= 1; });
      const auto before = shown(world).odometer;
      ASSERT_GT(before, 0.5) << rows;
      lose_journals(world);
      if (keys_are_lost) fs::remove_all(world.out().keys());
      world.forget_database();
      FakeExecutor second;
      (void)try_run(world, spec_of(rows), second);
      EXPECT_GE(shown(world).odometer, before) << rows;
      // What is made now comes on top.
      if (!second.submitted.empty()) {
        EXPECT_GT(shown(world).odometer, before + 0.3) << rows;
        EXPECT_NE(rows, kSelection);
      }
    }
  }
}

// A row that ended before the coordinator was killed is in the record already.
TEST(ReleaseRecord, WhatEndedIsInItBeforeTheCoordinatorsEnd) {
  World world;
  FakeExecutor first;
  int begun = 0;
  first.fate = [&](const auto&) { return begun++ == 0 ? Fate::finish : Fate::crash; };
  ASSERT_FALSE(try_run(world, spec_of(kFixed), first));
  const auto before = shown(world).odometer;
  lose_journals(world);
  world.forget_database();
  FakeExecutor none;
  EXPECT_FALSE(try_run(world, spec_of(kFixed), none)) << "a second release of the row";
  EXPECT_GE(shown(world).odometer, before);
}

// An older copy of the database knows fewer attempts than the record.
TEST(ReleaseRecord, AddsToWhatAnOlderDatabaseKnows) {
  World world;
  FakeExecutor killed;
  killed.fate = [](const auto&) { return Fate::kill; };
  world.run(spec_of(kFixed), killed);
  std::vector<results::TrialRecord> older;
  for (const auto& id : killed.submitted) older.push_back(world.store().trial(id).value().value());
  fs::remove_all(world.out().keys());
  FakeExecutor second;
  world.run(spec_of(kFixed), second);
  const auto before = shown(world).odometer;
  lose_journals(world);
  world.forget_database();
  for (const auto& trial : older) ASSERT_TRUE(world.store().put_trial(trial, {}, {}));
  FakeExecutor none;
  (void)try_run(world, spec_of(kFixed), none);
  EXPECT_GE(shown(world).odometer, before);
}

// Also where a row was cancelled, and then opened again.
TEST(ReleaseRecord, WhatAReopenedSelectionCostOutlivesAllButTheRecord) {
  // Until one draws more runs than the first, so that it is open when it is stopped.
  std::optional<World> stopped;
  do {
    stopped.emplace();
    FakeExecutor first;
    stopped->run(spec_of(kSelection), first, [&] { return first.ended >= 1; });
  } while (results::is_answered(stopped->store().studies("drawn").value().at(0)));
  auto& world = *stopped;
  StudyRequest request{.kind = StudyRequest::Kind::cancel, .studies = {}};
  for (const auto& study : world.store().studies("drawn").value()) request.studies.push_back(study.id);
  ASSERT_TRUE(carry_out(world.store(), world.out(), request));
  const auto before = shown(world).odometer;
  const auto studies = world.store().studies("drawn").value();
  ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("drawn").value(), studies));
  EXPECT_GE(shown(world).odometer, before);
  lose_journals(world);
  world.forget_database();
  FakeExecutor second;
  EXPECT_FALSE(try_run(world, spec_of(kSelection), second));
  EXPECT_GE(shown(world).odometer, before);
}

}  // namespace restored_releases_test
}  // namespace hyfreedp::runner
