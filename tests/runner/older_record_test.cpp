// What is charged and what is refused where the release record is an older copy, or the database is
// and the record knows a later price of a row.
#include <boost/algorithm/string/replace.hpp>
#include <gmock/gmock.h>

#include "harness/base/files.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "tests/runner/lost_files.h"

namespace hyfreedp::runner {
namespace older_record_test {

using namespace lost_files;
using ::testing::HasSubstr;

std::string with_seeds(const std::string& seeds) {
  return boost::replace_all_copy(kSel, "seeds: [0, 1]", "seeds: " + seeds);
}

const std::string kCompared = boost::replace_all_copy(
    spec_of("      - {id: a, method: fixed-rate, options: {lr: 1e-2}}\n"
            "      - {id: b, method: fixed-rate, options: {lr: 2e-2}}\n",
            "compared"),
    "seeds: [0, 1]", "seeds: {until: paired interval of a - b is narrower than 0.001, from: 3, to: 8}");

class OlderRecord : public LostFiles {
 protected:
  // Stops after two runs. The database then has the open rows as before their booking, with this
  // change. Returns what was spent.
  double stop_comparison(const std::function<void(results::StudyRecord&)>& change) {
    FakeExecutor some;
    world.run(kCompared, some, [&] { return some.ended >= 2; });
    const auto spent = epsilon();
    for (auto study : world.store().studies("compared").value()) {
      if (results::is_answered(study)) continue;
      study.composition = {};
      study.trials.clear();
      change(study);
      EXPECT_TRUE(world.store().put_study(study));
    }
    return spent;
  }
  void keep_record() { record_ = read_file(world.out().release_record("sel")).value(); }
  void put_record_back() { ASSERT_TRUE(write_file_atomically(world.out().release_record("sel"), record_)); }
  std::ptrdiff_t journals() const {
    return std::ranges::count_if(fs::directory_iterator(world.out().journals()),
                                 [](const auto& entry) { return entry.path().extension() == ".jsonl"; });
  }
  bool has_unknown_selection() {
    return odometer_of(world.store(), world.out()).value().data.at(0).has_unknown_selection;
  }
  // The row of a run that was stopped and cancelled, and its price. The database is kept then; the
  // row is opened again, and the key of its run lost if it `loses_key`.
  std::pair<std::string, double> cancel_and_open(const std::string& yaml, bool loses_key = true) {
    const auto name = world.read(yaml).content.name;
    stop_again(Fate::linger, yaml);
    const auto study = world.store().studies(name).value().at(0).id;
    const auto price = cancelled(study);
    keep_database();
    EXPECT_TRUE(reopen(world.store(), world.out(), *world.store().spec(name).value(),
                       world.store().studies(name).value()));
    if (loses_key) lose_keys_of_runs();
    return {study, price};
  }
  // A row that is cancelled before its first run, and opened again; the database is kept between.
  std::pair<std::string, double> cancel_unbegun_and_open(const std::string& yaml) {
    const auto name = world.read(yaml).content.name;
    FakeExecutor none;
    world.run(yaml, none, [] { return true; });
    const auto study = world.store().studies(name).value().at(0).id;
    const auto price = cancelled(study);
    keep_database();
    EXPECT_TRUE(reopen(world.store(), world.out(), *world.store().spec(name).value(),
                       world.store().studies(name).value()));
    return {study, price};
  }

 private:
  std::string record_;
};

// A comparison had booked its seeds when all was killed; the older database has its rows open.
TEST_F(OlderRecord, SeedsOfAComparisonStayBooked) {
  const auto spent = stop_comparison([](results::StudyRecord& study) {
    // What the row listed since the record was written stays.
    if (study.seed == 7) study.trials = {"later"};
  });
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
  world.close_database();
  const auto copy = copy_of_folder(world.out()).value();
  for (const auto& study : copy.store->studies("compared").value()) {
    if (study.seed == 7) {
      EXPECT_THAT(study.trials, testing::Contains("later"));
    }
  }
  world.reopen_database();
  for (auto study : world.store().studies("compared").value()) {
    study.trials.erase(std::ranges::remove(study.trials, "later").begin(), study.trials.end());
    ASSERT_TRUE(world.store().put_study(study));
  }
  run(kCompared);
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
}

// It has them as cancelled before they were booked; they were opened again since.
TEST_F(OlderRecord, SeedsThatWereCancelledBeforeTheirBookingStayBooked) {
  const auto spent = stop_comparison([](results::StudyRecord& study) {
    study.state = results::StudyState::failed;
    study.failure_kind = results::kCancelledStudy;
  });
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  auto cancelled = world.store().studies("compared").value();
  std::erase_if(cancelled, [](const auto& study) { return !results::is_cancelled(study); });
  const auto opened = reopen(world.store(), world.out(), *world.store().spec("compared").value(), cancelled);
  ASSERT_TRUE(opened) << opened.error().message;
  run(kCompared);
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent) << "booked once";
}

// Seeds of a search in several rounds that are not needed are booked like the dearest that was
// trained. The older database has
// them of the version before, of which fewer were.
TEST_F(OlderRecord, SeedsThatAreNotNeededStayBookedAtTheLaterPrice) {
  const auto compared = [](int from) {
    return boost::replace_all_copy(
        spec_of("      - {id: a, method: linear-scaling, options: {t_min: 2, t_max: 20, r_max: 8}}\n"
                "      - {id: b, method: fixed-rate, options: {lr: 2e-2}}\n",
                "compared", "noise_seed: dearer"),
        "seeds: [0, 1]",
        fmt::format("seeds: {{until: paired interval of a - b is narrower than 10000, from: {}, to: 8}}",
                    from));
  };
  run(compared(2));
  const auto before = epsilon();
  keep_database();
  run(compared(6), true);
  const auto spent = epsilon();
  ASSERT_GT(spent, 1.005 * before);
  put_database_back();
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
  run(compared(6), true);
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
}

// The database has the rows, with a part of what was booked.
TEST_F(OlderRecord, OfWhatIsBookedOfASeedTheMostCounts) {
  run(boost::replace_all_copy(kCompared, "0.001", "10000"));
  const auto spent = epsilon();
  int lowered = 0;
  for (auto study : world.store().studies("compared").value()) {
    for (auto& one : study.composition.not_begun) {
      for (auto& event : one.events) {
        std::get<accounting::Batch>(event.what).count /= 2;
        ++lowered;
      }
    }
    ASSERT_TRUE(world.store().put_study(study));
  }
  EXPECT_EQ(lowered, 8) << "four seeds of two rows were not needed";
  EXPECT_NEAR(epsilon(), spent, 1e-6 * spent);
}

// The selection of the added seed would be drawn a second time.
TEST_F(OlderRecord, OfASpecThatGotASeedDoesNotHideItsRuns) {
  run(with_seeds("[0]"));
  keep_record();
  const auto before = journals();
  const auto both = with_seeds("[0, 1]");
  EXPECT_EQ(refusal(both), "");
  run(both);
  ASSERT_GT(journals(), before);
  world.forget_database();
  EXPECT_EQ(refusal(both), "") << "the newest record knows all of them";
  world.forget_database();
  put_record_back();
  EXPECT_THAT(refusal(both), HasSubstr("might release the same data a second time unseen"));
}

// The runs of the row that the record knows have another seed than the row that is added.
TEST_F(OlderRecord, ASeedMayBeAddedWhereTheDatabaseIsLost) {
  run(with_seeds("[0]"));
  world.forget_database();
  EXPECT_EQ(refusal(with_seeds("[0, 1]")), "");
}

// The record was also written while the selection was open.
TEST_F(OlderRecord, OfASelectionThatWasStoppedHidesNoOthers) {
  stop_selection();
  run(kSel);
  EXPECT_FALSE(has_unknown_selection());
  keep_database();
  keep_record();
  const auto before = journals();
  run(with_seeds("[0, 1, 2]"));
  ASSERT_GT(journals(), before);
  EXPECT_FALSE(has_unknown_selection());
  put_database_back();
  put_record_back();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  EXPECT_TRUE(has_unknown_selection());
}

// The selection is open in the older database, and its runs have another seed.
TEST_F(OlderRecord, OfAnOpenSelectionHidesNoneOfAnotherSeed) {
  const auto one = with_seeds("[0]");
  stop_selection(Fate::finish, one);
  keep_database();
  keep_record();
  run(one);
  const auto before = journals();
  run(with_seeds("[0, 1]"));
  ASSERT_GT(journals(), before);
  put_database_back();
  put_record_back();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  EXPECT_TRUE(has_unknown_selection());
}

// The record has the row as open and never begun.
TEST_F(OlderRecord, KnowsNoRunsOfARowThatItHasAsOpen) {
  const auto both = with_seeds("[0, 1]");
  const auto other = boost::replace_all_copy(both, "epsilon: [3]", "epsilon: [2]");
  const auto only_first = [&](const std::string& yaml) {
    const auto spec = world.read(yaml);
    FakeExecutor executor;
    world.run(spec, executor, kNever, false, {}, Only::read({"seed=0"}, spec).value(), true);
  };
  only_first(both);
  keep_record();
  const auto before = journals();
  run(both);
  ASSERT_GT(journals(), before);
  world.forget_database();
  put_record_back();
  only_first(other);
  auto spec = world.read(both);
  const auto entered = enter_spec(world.store(), world.out(), spec, false, true);
  ASSERT_FALSE(entered);
  EXPECT_THAT(entered.error().message, HasSubstr("might release the same data a second time unseen"));
}

// A run that no selection can have chosen is charged by itself.
TEST_F(OlderRecord, AJournalWithoutAScoreIsNoSelections) {
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(fixed("1e-2", "sel")), executor, kNever, false));
  world.forget_database();
  EXPECT_EQ(refusal(spec_of(kFixed + kSelection, "sel")), "");
}

TEST_F(OlderRecord, ARowThatIsTrainedAnewTakesANumberThatNoJournalHas) {
  run(kSel);
  keep_database();
  const auto anew = [&] {
    auto spec = world.read(kSel);
    EXPECT_TRUE(retrain(world.store(), world.out(), spec, {{"small", "dp-hyper"}}));
    return spec;
  };
  const auto first = anew();
  FakeExecutor executor;
  world.run(first, executor, kNever, false, {}, {}, true);
  put_database_back();
  const auto release = [](const Spec& spec) { return spec.content.panels.at(0).rows.at(0).release; };
  EXPECT_GT(release(first), 0);
  EXPECT_GT(release(anew()), release(first));
}

// The older database has the row as cancelled, and the record as opened again.
TEST_F(OlderRecord, ARowThatWasOpenedAgainHasItsLaterPrice) {
  const auto yaml = fixed("1e-2", "q");
  const auto [study, once] = cancel_and_open(yaml);
  stop_again(Fate::linger, yaml);
  const auto copy = copied();
  const auto twice = cancelled(study);
  EXPECT_GT(twice, once);
  change_to(copy);
  put_database_back();
  EXPECT_DOUBLE_EQ(cancelled(study), twice);
}

class PricedAgain : public OlderRecord, public ::testing::WithParamInterface<std::string> {};

// The journal alone tells of the second attempt.
TEST_P(PricedAgain, ARowThatWasCancelledBeforeIsDearer) {
  const auto& yaml = GetParam();
  const auto [study, once] = cancel_and_open(yaml);
  FakeExecutor killed;
  killed.fate = [](const auto&) { return Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  put_database_back();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  EXPECT_TRUE(results::is_cancelled(world.store().study(study).value().value()));
  ASSERT_TRUE(price_cancelled_again(world.store(), world.out()));
  const auto again = world.store().study(study).value()->total->epsilon;
  EXPECT_GT(again, once);
  ASSERT_TRUE(price_cancelled_again(world.store(), world.out()));
  EXPECT_EQ(world.store().study(study).value()->total->epsilon, again);
}

INSTANTIATE_TEST_SUITE_P(Rows, PricedAgain,
                         ::testing::Values(fixed("1e-2", "q"),
                                           boost::replace_all_copy(kSel, "[0, 1]", "[0]")));

// The older database has the row as cancelled before its first run, which began after it was opened
// again.
TEST_F(OlderRecord, ARowThatWasOpenedAgainIsChargedTheRunsBegunSince) {
  const auto yaml = fixed("1e-2", "q");
  const auto [study, price] = cancel_unbegun_and_open(yaml);
  EXPECT_EQ(price, 0);
  stop_again(Fate::linger, yaml);
  const auto copy = copied();
  const auto later = cancelled(study);
  EXPECT_GT(later, 1);
  change_to(copy);
  put_database_back();
  EXPECT_DOUBLE_EQ(cancelled(study), later);
  world.forget_database();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  EXPECT_DOUBLE_EQ(world.store().study(study).value()->total->epsilon, later) << "by the record alone";
}

// The record names its run and has nothing of it: all processes were killed meanwhile. The run is
// in the database from then on.
TEST_F(OlderRecord, ARowThatWasOpenedAgainIsChargedARunThatAJournalAloneHas) {
  const auto yaml = boost::replace_all_copy(fixed("1e-2", "q"), "[0, 1]", "[0]");
  const auto [study, price] = cancel_unbegun_and_open(yaml);
  EXPECT_EQ(price, 0);
  FakeExecutor killed;
  killed.fate = [](const auto&) { return Fate::crash; };
  killed.at_begin = [&](const auto&, const auto&) {
    ASSERT_TRUE(update_release_record(world.store(), world.out(), "q"));
  };
  EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  const auto all = epsilon();
  put_database_back();
  run(yaml);
  const auto row = world.store().study(study).value()->total;
  ASSERT_TRUE(row);
  EXPECT_GT(row->epsilon, 1);
  EXPECT_DOUBLE_EQ(epsilon(), all);
  fs::remove(world.out().release_record("q"));
  lose_journals_and_keys();
  EXPECT_DOUBLE_EQ(epsilon(), all) << "by the database alone";
}

// The older database lists the runs that began since, and the release record is gone.
TEST_F(OlderRecord, ARowThatWasOpenedAgainIsChargedTheRunsOfItsJournals) {
  const auto yaml =
      spec_of("      - {id: tuned, method: dpsgd, options: {tuning: composed, candidates: 4}}\n", "q");
  const auto [study, once] = cancel_and_open(yaml, false);
  int begun = 0;
  FakeExecutor killed;
  killed.fate = [&](const auto&) { return ++begun < 3 ? Fate::finish : Fate::crash; };
  EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
  const auto copy = copied();
  const auto later = cancelled(study);
  EXPECT_GT(later, once + 0.1);
  change_to(copy);
  put_database_back();
  fs::remove(world.out().release_record("q"));
  EXPECT_EQ(cancelled(study), later);
  const auto all = epsilon();
  lose_journals_and_keys();
  EXPECT_DOUBLE_EQ(epsilon(), all) << "the database has them now";
}

// Its seed had not begun; whether it was booked ahead or not, its price stays, and the run that it
// shares is charged once, also where it is opened and cancelled again.
TEST_F(OlderRecord, ACancelledSeedIsChargedASharedRunOnce) {
  const std::string rows =
      "      - {id: fixed, method: fixed-rate, options: {lr: 1e-2}}\n"
      "      - {id: again, method: fixed-rate, options: {lr: 1e-2}}\n"
      "      - {id: other, method: fixed-rate, options: {lr: 1e-3}}\n";
  for (const std::string seeds :
       {"[0, 1]", "{until: paired interval of fixed - other is narrower than 1e-6, from: 2, to: 2}"}) {
    SCOPED_TRACE(seeds);
    const auto yaml = boost::replace_all_copy(spec_of(rows, "q"), "seeds: [0, 1]", "seeds: " + seeds);
    const auto seed = [&](const std::string& row) {
      auto studies = world.store().studies("q").value();
      return *std::ranges::find_if(studies, [&](const auto& one) { return one.row == row && one.seed == 1; });
    };
    stop_again(Fate::linger, yaml);
    const auto before = cancelled(seed("again").id);
    FakeExecutor killed;
    killed.fate = [](const auto&) { return Fate::crash; };
    EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
    lose_keys_of_runs();
    run(yaml);
    EXPECT_DOUBLE_EQ(seed("again").total ? seed("again").total->epsilon : 0, before);
    const auto shared = seed("fixed").total->epsilon;
    const auto all = epsilon();
    ASSERT_TRUE(reopen(world.store(), world.out(), *world.store().spec("q").value(), {seed("again")}));
    EXPECT_LE(cancelled(seed("again").id), std::max(shared, before) + 1e-9);
    EXPECT_LE(epsilon(), all);
    world.forget_database();
    fs::remove_all(world.out().root);
    fs::create_directories(world.out().root);
    world.reopen_database();
  }
}

// Earlier versions wrote bookings of seeds without the names of their runs.
TEST_F(OlderRecord, ABookingThatDoesNotNameItsRunsIsOfAllOfThem) {
  const auto yaml = boost::replace_all_copy(
      spec_of("      - {id: fixed, method: fixed-rate, options: {lr: 1e-2}}\n"
              "      - {id: tuned, method: dpsgd, options: {tuning: composed, candidates: 4}}\n",
              "q"),
      "seeds: [0, 1]",
      "seeds: {until: paired interval of fixed - tuned is narrower than 1e-6, from: 2, to: 2}");
  FakeExecutor none;
  world.run(yaml, none, [] { return true; });
  auto studies = world.store().studies("q").value();
  auto tuned = *std::ranges::find(studies, "tuned", &results::StudyRecord::row);
  ASSERT_EQ(tuned.composition.not_begun.size(), 4U);
  const auto copy = copied();
  const auto named = cancelled(tuned.id);
  change_to(copy);
  for (auto& rest : tuned.composition.not_begun) rest.trial.clear();
  ASSERT_TRUE(world.store().put_study(tuned));
  EXPECT_DOUBLE_EQ(cancelled(tuned.id), named);
}

// It was cancelled before its first run, of which a journal alone tells.
TEST_F(OlderRecord, ASelectionThatWasOpenedAgainIsChargedItsDearestRun) {
  const auto yaml = with_seeds("[0]");
  const auto [study, booked] = cancel_unbegun_and_open(yaml);
  for (int attempt = 0; attempt < 3; ++attempt) {
    stop_again(Fate::linger, yaml);
    lose_keys_of_runs();
  }
  ASSERT_FALSE(results::is_answered(selection()));
  const auto copy = copied();
  const auto dearest = cancelled(study);
  EXPECT_GT(dearest, booked + 0.1);
  change_to(copy);
  put_database_back();
  run(yaml);
  EXPECT_DOUBLE_EQ(world.store().study(study).value()->total->epsilon, dearest);
}

// Two rows share a run; the one that was not cancelled goes on with it under another key.
TEST_F(OlderRecord, ACancelledRowIsPricedAtTheEndOfTheRunThatItShares) {
  const auto yaml = spec_of(
      "      - {id: fixed, method: fixed-rate, options: {lr: 1e-2}}\n"
      "      - {id: again, method: fixed-rate, options: {lr: 1e-2}}\n",
      "q");
  const auto row = [&](const std::string& name) {
    auto studies = world.store().studies("q").value();
    return *std::ranges::find(studies, name, &results::StudyRecord::row);
  };
  stop_again(Fate::linger, yaml);
  const auto once = cancelled(row("again").id);
  lose_keys_of_runs();
  run(yaml);
  EXPECT_GT(row("again").total->epsilon, once + 0.1);
  EXPECT_DOUBLE_EQ(row("again").total->epsilon, row("fixed").total->epsilon);
}

// The older database has the row as it was cancelled the first time.
TEST_F(OlderRecord, ARowThatWasCancelledAgainHasItsLaterPrice) {
  const auto yaml = fixed("1e-2", "q");
  const auto [study, once] = cancel_and_open(yaml);
  stop_again(Fate::linger, yaml);
  const auto twice = cancelled(study);
  EXPECT_GT(twice, once);
  put_database_back();
  ASSERT_TRUE(restore_from_records(world.store(), world.out()));
  EXPECT_DOUBLE_EQ(world.store().study(study).value()->total->epsilon, twice);
}

}  // namespace older_record_test
}  // namespace hyfreedp::runner
