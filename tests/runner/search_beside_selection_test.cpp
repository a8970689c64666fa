// A search whose runs compose in sequence, beside a private selection with runs like them. Where
// the database is an older copy, journals alone tell of the search's runs: they are told apart by
// what its plan asks for.
#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>

#include "harness/random/key_file.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/upkeep/merge.h"
#include "tests/runner/lost_files.h"

namespace hyfreedp::runner {
namespace search_beside_selection_test {

using namespace lost_files;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string both(const std::string& head) {
  auto yaml = spec_of(
      "      - {id: searched, method: dpsgd, options: {tuning: composed, candidates: 12}}\n"
      "      - {id: selected, method: dp-hyper, options: {mean_runs: 3}}\n",
      "both", head);
  boost::algorithm::replace_all(yaml, "epsilon: [3]", "noise_multiplier: [4]");
  boost::algorithm::replace_all(yaml, "seeds: [0, 1]", "seeds: [0]");
  return yaml;
}

// Whether the spec has a noise seed, so that no key of draws tells what its rows draw.
class SearchBesideSelection : public LostFiles, public ::testing::WithParamInterface<bool> {
 protected:
  // The search has made most of its runs when all is killed: the release record is of before, and
  // so is the database that is put back. Returns what was spent.
  double lose() {
    run(fixed("1e-2", "other"));
    keep_database();
    const auto yaml = both(GetParam() ? "noise_seed: s\n" : "");
    FakeExecutor none, searching;
    world.run(yaml, none, [] { return true; });
    const auto record = world.out().release_record("both");
    fs::copy_file(record, kept() + ".record");
    world.run(yaml, searching, [&] { return searching.ended >= 10; });
    const auto spent = epsilon();
    EXPECT_GT(spent, 2 * epsilon_of_one());
    fs::copy_file(kept() + ".record", record, fs::copy_options::overwrite_existing);
    put_database_back();
    return spent;
  }
  // Of a run like theirs, alone.
  double epsilon_of_one() {
    World alone;
    FakeExecutor executor;
    auto yaml = spec_of("      - {method: fixed-rate, options: {lr: 1e-2}}\n", "one");
    boost::algorithm::replace_all(yaml, "epsilon: [3]", "noise_multiplier: [4]");
    boost::algorithm::replace_all(yaml, "seeds: [0, 1]", "seeds: [0]");
    alone.run(yaml, executor);
    return read_odometer(odometer_of(alone.store(), alone.out()).value().data.at(0), 1e-5)
        .value()
        .total.epsilon;
  }
  std::vector<std::string> untold() {
    world.close_database();
    auto copy = copy_of_folder(world.out()).value();
    world.reopen_database();
    return std::move(copy.untold);
  }
};

TEST_P(SearchBesideSelection, IsChargedByItself) {
  const auto spent = lose();
  EXPECT_THAT(untold(), IsEmpty());
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  const auto caught_up = catch_up(world.store(), world.out());
  ASSERT_TRUE(caught_up) << caught_up.error().message;
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
}

// The record would have the search's runs as the selection's.
TEST_P(SearchBesideSelection, IsChargedByItselfWhereItsRecordIsWrittenAnew) {
  const auto yaml = both(GetParam() ? "noise_seed: s\n" : "");
  FakeExecutor none, searching;
  world.run(yaml, none, [] { return true; });
  keep_database();
  world.run(yaml, searching, [&] { return searching.ended >= 10; });
  fs::remove(world.out().release_record("both"));
  put_database_back();
  run(fixed("1e-2", "other"));
  const auto spent = epsilon();
  EXPECT_GT(spent, 2 * epsilon_of_one());
  world.forget_database();
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
}

// It waits for some of its runs, asks for no others after these, and so has none of the
// selection's.
TEST_P(SearchBesideSelection, IsToldApartWhileItWaits) {
  const auto yaml = both(GetParam() ? "noise_seed: s\n" : "");
  FakeExecutor none, running;
  world.run(yaml, none, [] { return true; });
  const auto record = world.out().release_record("both");
  fs::copy_file(record, kept() + ".record");
  keep_database();
  running.order = Order::last_in;  // the selection's runs first
  world.run(yaml, running, [&] { return running.ended >= 6; });
  fs::copy_file(kept() + ".record", record, fs::copy_options::overwrite_existing);
  put_database_back();
  EXPECT_THAT(untold(), IsEmpty());
}

// A merge brings the search's row with its runs.
TEST_P(SearchBesideSelection, IsChargedByItselfWhereItsFolderIsMerged) {
  const auto spent = lose();
  const auto mine = copied();
  const auto other = change_to(mine);
  world.close_database();
  fs::remove_all(world.out().root);
  world.reopen_database();
  const auto merged = merge_folders(world.out(), world.store(), {OutFolder{other}});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
}

INSTANTIATE_TEST_SUITE_P(Of, SearchBesideSelection, ::testing::Bool());

using UnseededSearch = SearchBesideSelection;

TEST_P(UnseededSearch, IsNotToldApartWithoutTheKeyOfItsDraws) {
  lose();
  const auto key = world.out().draw_key("both");
  fs::remove(key);
  ASSERT_TRUE(random::create_or_read_key(key));
  EXPECT_THAT(untold(), SizeIs(1)) << "another key";
  fs::remove(key);
  EXPECT_THAT(untold(),
              ElementsAre(HasSubstr("which of them are those of the row small, searched cannot be told")));
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  const auto caught_up = catch_up(world.store(), world.out());
  ASSERT_FALSE(caught_up);
  EXPECT_THAT(caught_up.error().message, HasSubstr("cannot be told"));
  const auto mine = copied();
  World into(World::Database::in_folder);
  const auto merged = merge_folders(into.out(), into.store(), {OutFolder{mine}});
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message, HasSubstr("cannot be told"));
}

// Its row, which was left out when database and record were of, says of no rule, since its method
// can also search.
TEST_P(UnseededSearch, RunsOfASelectionAreNoSearchs) {
  auto yaml =
      spec_of("      - {id: selected, method: dpsgd, options: {tuning: selection, mean_runs: 12}}\n" + kFixed,
              "both");
  boost::algorithm::replace_all(yaml, "seeds: [0, 1]", "seeds: [0]");
  const auto record = world.out().release_record("both");
  do {
    world.forget_database();
    fs::remove_all(world.out().journals());
    fs::remove_all(world.out().keys());
    FakeExecutor fixed_alone, selecting;
    world.run_only(yaml, {"row=fixed"}, fixed_alone);
    keep_database();
    fs::copy_file(record, kept() + ".record", fs::copy_options::overwrite_existing);
    world.run(yaml, selecting, [&] { return selecting.ended >= 2; });
  } while (std::ranges::all_of(world.store().studies("both").value(), results::is_answered));
  fs::copy_file(kept() + ".record", record, fs::copy_options::overwrite_existing);
  put_database_back();
  world.close_database();
  const auto copy = copy_of_folder(world.out()).value();
  for (const auto& study : copy.store->studies("both").value())
    EXPECT_THAT(study.trials, SizeIs(study.row == "fixed" ? 1 : 0)) << study.row;
  const auto odometer = odometer_of(*copy.store, world.out()).value();
  EXPECT_TRUE(odometer.data.at(0).has_unknown_selection) << "the odometer says \"at least\"";
  world.reopen_database();
}

// The key that a finished run left tells of another attempt, which a command that reads must leave
// to those that keep what it tells.
TEST_P(UnseededSearch, ACommandThatReadsDeletesNoKey) {
  lose();
  const auto journals = world.out().journals();
  std::vector<std::string> keys;
  for (const auto& entry : fs::directory_iterator(journals)) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto run = entry.path().stem().string();
    if (!mechanism::read_journal(entry.path().string()).value().finish) continue;
    const auto key = world.out().key(run);
    if (fs::exists(key)) continue;
    ASSERT_TRUE(write_file_atomically(key, "left"));
    keys.push_back(key);
  }
  ASSERT_GT(keys.size(), 5U);
  EXPECT_THAT(untold(), IsEmpty());
  for (const auto& key : keys) EXPECT_TRUE(fs::exists(key)) << key;
}

INSTANTIATE_TEST_SUITE_P(Drawn, UnseededSearch, ::testing::Values(false));

// A search of another spec, of which neither database nor record knows: both are of before.
class UnknownSearch : public LostFiles {
 protected:
  static std::string alone(const std::string& row, const std::string& name) {
    auto yaml = spec_of(row, name);
    boost::algorithm::replace_all(yaml, "epsilon: [3]", "noise_multiplier: [4]");
    boost::algorithm::replace_all(yaml, "seeds: [0, 1]", "seeds: [0]");
    return yaml;
  }
  const std::string selected_ =
      alone("      - {id: selected, method: dp-hyper, options: {mean_runs: 3}}\n", "sel");
  const std::string searched_ = alone(
      "      - {id: searched, method: dpsgd, options: {tuning: composed, candidates: 6}}\n", "searched");
  // Returns what was spent.
  double lose() {
    stop_selection(Fate::finish, selected_);
    keep_database();
    run(searched_);
    const auto spent = epsilon();
    fs::remove(world.out().release_record("searched"));
    fs::remove(world.out().release_record("sel"));
    put_database_back();
    return spent;
  }
  // `confidential`: what no row lists is composed as it was executed.
  Spending spending(bool confidential) {
    world.close_database();
    const auto copy = copy_of_folder(world.out()).value();
    world.reopen_database();
    return odometer_of(*copy.store, world.out(), {.confidential = confidential}).value().data.at(0);
  }
};

TEST_F(UnknownSearch, IsNotTheSelections) {
  const auto spent = lose();
  const auto expect_told = [&](const char* where) {
    EXPECT_TRUE(spending(false).has_unknown_selection) << where;
    EXPECT_GE(read_odometer(spending(true), 1e-5).value().total.epsilon, 0.999 * spent) << where;
  };
  expect_told("as it is");
  run(fixed("1e-2", "other"));
  expect_told("after another spec, with the selection's record written anew");
  world.forget_database();
  expect_told("by the records");
  run(selected_);
  expect_told("after the selection's end");
  const auto mine = copied();
  World into(World::Database::in_folder);
  const auto merged = merge_folders(into.out(), into.store(), {OutFolder{mine}});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_TRUE(odometer_of(into.store(), into.out()).value().data.at(0).has_unknown_selection) << "merged";
}

// The new version has the selection's row from its record, which lists no runs, beside the retired
// row, which lists its own.
TEST_F(UnknownSearch, IsNotTheSelectionsInANewVersion) {
  run(selected_);
  keep_database();
  run(searched_);
  fs::remove(world.out().release_record("searched"));
  put_database_back();
  EXPECT_TRUE(spending(false).has_unknown_selection);
  run(boost::replace_all_copy(selected_, "    rows:\n", "    rows:\n" + kFixed), true);
  EXPECT_TRUE(spending(false).has_unknown_selection) << "in the new version";
}

// A selection that began after the copies were made, beside one like it.
TEST_F(UnknownSearch, ARowThatIsNotBookedGivesNoOtherItsRuns) {
  const auto both = alone(
      "      - {id: selected, method: dp-hyper, options: {mean_runs: 3}}\n"
      "      - {id: later, method: dp-hyper, options: {mean_runs: 9}}\n",
      "sel");
  double spent = 0;
  do {
    world.forget_database();
    fs::remove_all(world.out().journals());
    fs::remove_all(world.out().keys());
    FakeExecutor none, later;
    world.run_only(both, {"row=selected"}, none, [] { return true; });
    keep_database();
    later.order = Order::last_in;
    world.run(both, later, [&] { return later.ended >= 1; });
    spent = epsilon();
  } while (std::ranges::any_of(world.store().studies("sel").value(), results::is_answered));
  fs::remove(world.out().release_record("sel"));
  put_database_back();
  const auto now = spending(false);
  EXPECT_TRUE(now.has_unknown_selection || read_odometer(now, 1e-5).value().total.epsilon >= 0.999 * spent);
}

// Nor does the record of a selection name the runs of another one that is open.
TEST_F(UnknownSearch, ARecordNamesNoRunsOfAnotherSelection) {
  const auto other = alone("      - {id: later, method: dp-hyper, options: {mean_runs: 9}}\n", "other");
  const auto is_over = [&](const std::string& spec) {
    return std::ranges::any_of(world.store().studies(spec).value(), results::is_answered);
  };
  do {
    stop_selection(Fate::kill, selected_);
    stop_again(Fate::kill, other);
  } while (is_over("other"));
  FakeExecutor none;
  world.run(selected_, none, [] { return true; });
  world.forget_database();
  EXPECT_FALSE(spending(false).has_unknown_selection) << "both records are there";
  fs::remove(world.out().release_record("other"));
  world.forget_database();
  run(fixed("1e-2", "third"));
  EXPECT_TRUE(spending(false).has_unknown_selection);
}

// The record names it all the same, so that it is missed where its journal is lost as well.
TEST_F(UnknownSearch, ASharedRunWithoutItsJournalIsNotMadeAgain) {
  const auto other = alone("      - {id: later, method: dp-hyper, options: {mean_runs: 9}}\n", "other");
  FakeExecutor none;
  do {
    stop_selection(Fate::finish, selected_);
    world.run(other, none, [] { return true; });
  } while (std::ranges::any_of(world.store().studies("other").value(), results::is_answered));
  world.run(selected_, none, [] { return true; });
  world.forget_database();
  lose_journals_and_keys();
  const auto restored = restore_for(world.store(), world.out(), "sel");
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().message, HasSubstr("It is not drawn again"));
  EXPECT_TRUE(results::is_lost(selection()));
}

// Its plan tells which runs are its own.
TEST_F(UnknownSearch, AnOpenSelectionAloneIsKnown) {
  for (const auto fate : {Fate::finish, Fate::kill}) {
    stop_selection(fate, selected_);
    put_database_back();
    EXPECT_FALSE(spending(false).has_unknown_selection) << "an older database";
    world.forget_database();
    EXPECT_FALSE(spending(false).has_unknown_selection) << "none";
  }
}

// The key of its draws is lost, which would tell that the runs are its own.
TEST_F(UnknownSearch, ASelectionMayHaveBegunByRunsThatNobodyKnows) {
  stop_selection(Fate::finish, selected_);
  put_database_back();
  fs::remove(world.out().draw_key("sel"));
  fs::remove(world.out().release_record("sel"));
  run(fixed("1e-2", "other"));
  EXPECT_TRUE(spending(false).has_unknown_selection);
  const auto spent = epsilon();
  world.forget_database();
  lose_journals_and_keys();
  EXPECT_GE(epsilon(), 0.999 * spent) << "by the records";
}

}  // namespace search_beside_selection_test
}  // namespace hyfreedp::runner
