// `hyfreedp cancel` and `retry`: studies that end because their user says so, what stays charged,
// and that an undisturbed run gives the same rows after all.
#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>
#include <thread>

#include "harness/mechanism/releases.h"
#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/execute/reopen.h"
#include "harness/runner/execute/study_request.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/restored_releases.h"
#include "results/store/states.h"
#include "results/table/table_model.h"
#include "tests/runner/fake_world.h"

namespace hyfreedp::runner {
namespace cancel_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string spec_of(const std::string& rows, const std::string& noise_seed, const std::string& seeds = "[0]",
                    int steps = 6) {
  return fmt::format(
      "name: ended\ntitle: t\n{}defaults:\n"
      "  dataset: {{name: synthetic, train: 2000, validation: 500, test: 500, classes: 3, features: 16}}\n"
      "  seeds: {}\n  epsilon: [3]\n  delta: 1e-5\n"
      "  train: {{sample_rate: 0.1, steps: {}, optimizer: adamw}}\n  evaluate: {{every: 0}}\n"
      "panels:\n  - {{id: small, model: linear}}\nrows:\n{}",
      noise_seed.empty() ? "" : "noise_seed: " + noise_seed + "\n", seeds, steps, rows);
}

// b and c share their run.
const std::string kThreeRows =
    "  - {id: a, method: fixed-rate, options: {lr: 5e-2}}\n"
    "  - {id: b, method: prodigy}\n"
    "  - {id: c, method: prodigy}\n";
const std::string kSelection =
    "  - {id: d, method: dp-hyper, options: {grid: [1e-3, 1e-2], mean_runs: 6, score_noise: 300}}\n";

// What would be asked for by a command: of the row's studies.
void ask_to_cancel(World& world, const std::string& row) {
  StudyRequest request;
  for (const auto& study : world.store().studies("ended").value()) {
    if (study.row == row) request.studies.push_back(study.id);
  }
  ASSERT_FALSE(request.studies.empty());
  ASSERT_TRUE(leave_request(world.out(), request));
}

results::StudyRecord study_of(World& world, const std::string& row) {
  for (auto& study : world.store().studies("ended").value()) {
    if (study.row == row) return study;
  }
  return {};
}

void retry(World& world, const std::string& row) {
  const auto spec = world.store().spec("ended").value().value();
  const auto opened = reopen(world.store(), world.out(), spec, {study_of(world, row)});
  ASSERT_TRUE(opened) << opened.error().message;
}

bool is_asked(World& world) { return !std::filesystem::is_empty(world.out().requests()); }

std::string trial_of(World& world, const std::string& row) { return study_of(world, row).trials.at(0); }

TEST(Cancel, ARunUnderWayIsStoppedAndTheOthersGoOn) {
  World clean;
  FakeExecutor undisturbed;
  const auto yaml = spec_of(kThreeRows, "s");
  clean.run(yaml, undisturbed);

  World world;
  FakeExecutor executor;
  std::string lingering;
  executor.fate = [&](const auto& config) {
    if (config.optimizer.name == "prodigy") return Fate::finish;
    lingering = config.id();
    return Fate::linger;
  };
  executor.at_end = [&](const auto& trial) {
    if (trial == lingering) ask_to_cancel(world, "a");
  };
  const auto report = world.run(yaml, executor);
  EXPECT_THAT(executor.cancelled, ElementsAre(lingering));
  EXPECT_FALSE(is_asked(world));
  ASSERT_THAT(report.failed, SizeIs(1));
  EXPECT_EQ(report.failed.front().kind, "cancelled");
  EXPECT_FALSE(report.failed_unexpectedly()) << "it is what was asked for";
  const auto cancelled = study_of(world, "a");
  EXPECT_TRUE(results::is_cancelled(cancelled));
  EXPECT_THAT(cancelled.failure_message, HasSubstr("its runs stay charged as planned"));
  EXPECT_EQ(study_of(world, "b").state, results::StudyState::concluded);
  // What its journal booked.
  const auto journal = mechanism::read_journal(world.out().journal(lingering)).value();
  ASSERT_TRUE(cancelled.total);
  EXPECT_EQ(cancelled.total->epsilon,
            accounting::report_epsilon({.events = journal.executed}, 1e-5).value().epsilon);

  FakeExecutor again;
  EXPECT_EQ(world.run(yaml, again).known_before, 3U);
  EXPECT_THAT(again.submitted, IsEmpty()) << "a cancelled study is not trained again by itself";

  retry(world, "a");
  EXPECT_EQ(study_of(world, "a").state, results::StudyState::open);
  FakeExecutor retrying;
  world.run(yaml, retrying);
  EXPECT_THAT(retrying.submitted, ElementsAre(lingering));
  EXPECT_EQ(world.rows("ended"), clean.rows("ended"));
}

// Asks to cancel these rows once `b` and `c` wait for their run, which no worker has yet.
void run_and_cancel(World& world, FakeExecutor& executor, const std::vector<std::string>& rows) {
  executor.at_submit = [&](const auto&) { executor.idle = executor.submitted.size() == 2 ? 1 : 0; };
  bool asked = false;
  world.run(spec_of(kThreeRows, "s"), executor, [&] {
    if (!asked && executor.submitted.size() == 2) {
      for (const auto& row : rows) ask_to_cancel(world, row);
      asked = true;
    }
    return false;
  });
  EXPECT_TRUE(asked);
}

TEST(Cancel, ARunThatAnotherStudyWantsGoesOn) {
  World world;
  FakeExecutor executor;
  run_and_cancel(world, executor, {"b"});
  EXPECT_TRUE(results::is_cancelled(study_of(world, "b")));
  EXPECT_EQ(study_of(world, "c").state, results::StudyState::concluded);
  EXPECT_THAT(executor.cancelled, IsEmpty());
}

TEST(Cancel, ARunThatNobodyWantsAnyMoreDoesNotBegin) {
  World world;
  FakeExecutor executor;
  run_and_cancel(world, executor, {"b", "c"});
  EXPECT_THAT(executor.cancelled, ElementsAre(trial_of(world, "c")));
  EXPECT_EQ(executor.ended, 1U);
  EXPECT_TRUE(results::is_cancelled(study_of(world, "b")));
  EXPECT_TRUE(results::is_cancelled(study_of(world, "c")));
  EXPECT_FALSE(study_of(world, "c").total) << "nothing of it was executed";
}

// The request is there before anything is asked for.
TEST(Cancel, AStudyThatAskedForNothingIsChargedNothing) {
  World world;
  const auto yaml = spec_of(kThreeRows, "s");
  FakeExecutor stopped;
  world.run(yaml, stopped, [] { return true; });
  ask_to_cancel(world, "a");
  FakeExecutor executor;
  world.run(yaml, executor);
  const auto cancelled = study_of(world, "a");
  EXPECT_TRUE(results::is_cancelled(cancelled));
  EXPECT_FALSE(cancelled.total);
  EXPECT_THAT(executor.submitted, SizeIs(1));
}

// Its run was interrupted, and the next command ends before it asks for it again.
// Of two rows that share a run, the one that `--only` leaves out asks for nothing.
TEST(Cancel, AStudyThatWasLeftOutIsNotChargedAnothersRun) {
  World world;
  const auto spec = spec_of(kThreeRows, "");
  FakeExecutor executor;
  world.run_only(spec, {"row=b"}, executor);
  StudyRequest request{.studies = {study_of(world, "c").id}};
  ASSERT_TRUE(carry_out(world.store(), world.out(), request));
  EXPECT_FALSE(study_of(world, "c").total);
  EXPECT_THAT(study_of(world, "c").trials, IsEmpty());
}

TEST(Cancel, AStudyThatAnEarlierCommandBeganStaysCharged) {
  World world;
  const auto yaml = spec_of(kThreeRows, "s");
  FakeExecutor first, stopped, last;
  bool is_under_way = false;
  first.fate = [](const auto& config) {
    return config.optimizer.name == "prodigy" ? Fate::finish : Fate::linger;
  };
  first.at_end = [&](const auto&) { is_under_way = true; };
  world.run(yaml, first, [&] { return is_under_way; });
  world.run(yaml, stopped, [] { return true; });
  ask_to_cancel(world, "a");
  world.run(yaml, last);
  const auto cancelled = study_of(world, "a");
  ASSERT_TRUE(results::is_cancelled(cancelled));
  EXPECT_THAT(cancelled.trials, SizeIs(1));
  ASSERT_TRUE(cancelled.total) << "what the first command executed";
  EXPECT_GT(cancelled.total->epsilon, 0);
}

// `b` is cancelled when its run waits for a worker, and `c` asks for the same run while it stops.
// Each study has a turn of the coordinator's planning for itself.
TEST(Cancel, ARunThatIsWantedAgainWhileItStopsBeginsAgain) {
  World world;
  FakeExecutor executor;
  const auto let_the_turn_pass = [] { std::this_thread::sleep_for(Coordinator::kPlanningTurn * 2); };
  executor.at_prepare = let_the_turn_pass;
  executor.at_submit = [&](const auto&) {
    if (executor.submitted.size() == 2) ask_to_cancel(world, "b");
    let_the_turn_pass();
  };
  executor.cancels_slowly = true;
  world.run(spec_of(kThreeRows, "s"), executor);
  const auto shared = trial_of(world, "c");
  EXPECT_THAT(executor.cancelled, ElementsAre(shared));
  EXPECT_EQ(std::ranges::count(executor.submitted, shared), 2);
  EXPECT_TRUE(results::is_cancelled(study_of(world, "b")));
  EXPECT_EQ(study_of(world, "c").state, results::StudyState::concluded);
}

double odometer(World& world) {
  const auto read = odometer_of(world.store(), world.out()).value();
  EXPECT_THAT(read.data, SizeIs(1));
  EXPECT_FALSE(read.data.at(0).has_unknown_selection);
  return read_odometer(read.data.at(0), 1e-5).value().total.epsilon;
}

// However many runs it had made: what is shown and charged is the same.
TEST(Cancel, APrivateSelectionStaysChargedWholeAndDoesNotTellItsRuns) {
  std::set<std::string> records, tables;
  std::set<double> charged;
  std::set<std::size_t> made;
  for (std::size_t runs = 1; runs <= 3; ++runs) {
    for (int attempt = 0; attempt < 30; ++attempt) {  // until as many were drawn
      World world;
      FakeExecutor executor;
      executor.at_end = [&](const auto&) {
        if (executor.ended == runs) ask_to_cancel(world, "d");
      };
      world.run(spec_of(kSelection, ""), executor);
      const auto study = study_of(world, "d");
      if (!results::is_cancelled(study) || executor.submitted.size() == executor.ended) continue;
      made.insert(executor.ended);
      EXPECT_THAT(executor.cancelled, Not(IsEmpty()));
      EXPECT_THAT(study.trials, IsEmpty());
      EXPECT_FALSE(study.composition.shows_run_count());
      ASSERT_TRUE(study.total);
      auto shown = study;
      shown.composition.booking.clear();  // drawn anew
      records.insert(canonical_json(as_json(shown)));
      const auto table = results::build_table(world.store(), "ended", {}).value();
      EXPECT_EQ(table.panels.at(0).rows.at(0).cells.at(0).seeds.at(0).failure_kind, "cancelled");
      charged.insert(odometer(world));
      EXPECT_NEAR(odometer(world), study.total->epsilon, 1e-9);
      // The release record says the same, where the database is lost.
      world.forget_database();
      restore_for(world.store(), world.out(), "ended").value();
      EXPECT_TRUE(results::is_cancelled(study_of(world, "d")));
      EXPECT_NEAR(odometer(world), study.total->epsilon, 1e-9);
      break;
    }
  }
  EXPECT_THAT(made, SizeIs(3));
  EXPECT_THAT(records, SizeIs(1));
  EXPECT_THAT(charged, SizeIs(1));
}

// More steps than are booked ahead of a run.
constexpr int kManySteps = 1000;

double planned_cost(const trial::TrialConfig& config) {
  return accounting::report_epsilon({.events = mechanism::events(config)}, 1e-5).value().epsilon;
}

// Where it stopped was chosen by who saw what it had released. It has released two steps of a
// thousand, and the price of what it booked would be a fifth of that of its plan.
TEST(Cancel, ARunIsChargedAsPlannedWhereverItWasStopped) {
  for (const std::string noise_seed : {"s", ""}) {
    World world;
    FakeExecutor executor;
    std::optional<trial::TrialConfig> begun;
    executor.fate = [&](const auto& config) {
      begun = config;
      return Fate::linger;
    };
    executor.at_end = [&](const auto&) { ask_to_cancel(world, "a"); };
    const std::string row = "  - {id: a, method: fixed-rate, options: {lr: 5e-2}}\n";
    world.run(spec_of(row, noise_seed, "[0]", kManySteps), executor);
    const auto cancelled = study_of(world, "a");
    ASSERT_TRUE(results::is_cancelled(cancelled));
    ASSERT_TRUE(begun && cancelled.total);
    EXPECT_GT(planned_cost(*begun), 2.9);
    EXPECT_EQ(cancelled.total->epsilon, planned_cost(*begun));
    EXPECT_EQ(odometer(world), planned_cost(*begun));
    world.forget_database();
    EXPECT_EQ(odometer(world), planned_cost(*begun)) << "from the journal alone";
  }
}

// A signal, a limit of memory, a lost machine: the run may never go on.
TEST(Cancel, ARunThatIsNeverContinuedIsChargedAsPlanned) {
  for (const auto fate : {Fate::cancel, Fate::kill}) {
    World world;
    FakeExecutor executor;
    std::optional<trial::TrialConfig> begun;
    executor.fate = [&](const auto& config) {
      begun = config;
      return fate;
    };
    const std::string row = "  - {id: a, method: fixed-rate, options: {lr: 5e-2}}\n";
    const auto yaml = spec_of(row, "", "[0]", kManySteps);
    world.run(yaml, executor);
    ASSERT_TRUE(begun);
    EXPECT_EQ(odometer(world), planned_cost(*begun));
    // One that goes on is the same release.
    FakeExecutor rest;
    world.run(yaml, rest);
    EXPECT_EQ(study_of(world, "a").state, results::StudyState::concluded);
    EXPECT_EQ(odometer(world), planned_cost(*begun));
  }
}

// Also before any of its runs began: that none did must not be seen either.
TEST(Cancel, APrivateSelectionIsChargedBeforeItsFirstRun) {
  World world;
  const auto yaml = spec_of(kSelection, "");
  FakeExecutor executor;
  world.run(yaml, executor, [] { return true; });
  ASSERT_TRUE(carry_out(world.store(), world.out(), {.studies = {study_of(world, "d").id}}));
  const auto study = study_of(world, "d");
  ASSERT_TRUE(study.total);
  EXPECT_NEAR(odometer(world), study.total->epsilon, 1e-9);
}

TEST(Cancel, ASelectionIsRetriedWhileItsDrawsAreThere) {
  World world;
  const auto yaml = spec_of(kSelection + kThreeRows, "");
  FakeExecutor executor;
  world.run(yaml, executor, [] { return true; });
  ASSERT_TRUE(carry_out(world.store(), world.out(), {.studies = {study_of(world, "d").id}}));
  retry(world, "d");
  FakeExecutor rest;
  EXPECT_THAT(world.run(yaml, rest).failed, IsEmpty());
  EXPECT_EQ(study_of(world, "d").state, results::StudyState::concluded);
  EXPECT_FALSE(std::filesystem::exists(world.out().draw_key("ended")));
}

// Also where every other row has its answer: the key of the draws stays as long as a row that draws
// is cancelled.
TEST(Cancel, ASelectionIsRetriedAfterTheRestOfItsSpec) {
  World world;
  const auto yaml = spec_of(kSelection + kThreeRows, "");
  FakeExecutor stopped;
  world.run(yaml, stopped, [] { return true; });
  ASSERT_TRUE(carry_out(world.store(), world.out(), {.studies = {study_of(world, "d").id}}));
  for (int times = 0; times < 2; ++times) {
    FakeExecutor rest;
    EXPECT_THAT(world.run(yaml, rest).failed, SizeIs(1)) << "the cancelled one";
    EXPECT_TRUE(std::filesystem::exists(world.out().draw_key("ended")));
  }
  const auto cost = odometer(world);
  retry(world, "d");
  FakeExecutor again;
  EXPECT_THAT(world.run(yaml, again).failed, IsEmpty());
  EXPECT_EQ(study_of(world, "d").state, results::StudyState::concluded);
  EXPECT_NEAR(odometer(world), cost, 1e-9);
  EXPECT_FALSE(std::filesystem::exists(world.out().draw_key("ended")));
}

// Once the key is deleted, rows that do not draw can still be opened again.
TEST(Cancel, WithoutTheDrawsOfItsSpecOnlyARowThatDrawsIsNotRetried) {
  World world;
  const auto yaml = spec_of(kSelection + kThreeRows, "");
  FakeExecutor stopped;
  world.run(yaml, stopped, [] { return true; });
  ASSERT_TRUE(carry_out(world.store(), world.out(), {.studies = {study_of(world, "a").id}}));
  FakeExecutor rest;
  world.run(yaml, rest);
  EXPECT_FALSE(std::filesystem::exists(world.out().draw_key("ended")));
  const auto spec = world.store().spec("ended").value().value();
  const auto refused = reopen(world.store(), world.out(), spec, {study_of(world, "d")});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("key of this spec's draws is gone"));
  retry(world, "a");
  FakeExecutor again;
  EXPECT_THAT(world.run(yaml, again).failed, IsEmpty());
  EXPECT_THAT(again.submitted, SizeIs(1));
  EXPECT_EQ(study_of(world, "a").state, results::StudyState::concluded);
}

// Under another key a row that draws would make its draws a second time.
TEST(Cancel, WhereTheKeyOfTheDrawsIsLostNoOtherIsMadeForRowsThatDoNotDraw) {
  World world;
  const auto yaml = spec_of(kSelection + kThreeRows, "");
  FakeExecutor stopped;
  world.run(yaml, stopped, [] { return true; });
  ASSERT_TRUE(carry_out(world.store(), world.out(), {.studies = {study_of(world, "d").id}}));
  std::filesystem::remove(world.out().draw_key("ended"));
  FakeExecutor rest;
  EXPECT_THAT(world.run(yaml, rest).failed, SizeIs(1)) << "the cancelled one";
  EXPECT_EQ(study_of(world, "a").state, results::StudyState::concluded);
  EXPECT_FALSE(std::filesystem::exists(world.out().draw_key("ended")));
  const auto spec = world.store().spec("ended").value().value();
  EXPECT_FALSE(reopen(world.store(), world.out(), spec, {study_of(world, "d")}));
}

// An earlier version deleted the key once every row had its answer, also where a row that draws was
// cancelled.
TEST(Cancel, WhereTheKeyOfACancelledRowIsLostNoRowThatDrawsIsAdded) {
  World world;
  FakeExecutor stopped;
  world.run(spec_of(kSelection, ""), stopped, [] { return true; });
  ASSERT_TRUE(carry_out(world.store(), world.out(), {.studies = {study_of(world, "d").id}}));
  std::filesystem::remove(world.out().draw_key("ended"));
  const std::string another =
      "  - {id: e, method: dp-hyper, options: {grid: [1e-3, 1e-1], mean_runs: 6, "
      "score_noise: 300}}\n";
  FakeExecutor more;
  const auto refused = world.try_run(
      world.read(spec_of(kSelection + another, "")), more, [] { return false; }, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the key of this spec's draws is gone"));
  world.run(spec_of(kSelection + kThreeRows, ""), more);
  EXPECT_EQ(study_of(world, "a").state, results::StudyState::concluded);
  EXPECT_FALSE(std::filesystem::exists(world.out().draw_key("ended")));
}

// Nothing is drawn here; the keys of its runs stay for `retry`, though every row has its answer.
TEST(Cancel, AnUnseededRunGoesOnUnderItsKey) {
  World world;
  const auto yaml = spec_of(kThreeRows, "");
  FakeExecutor executor;
  std::string lingering;
  executor.fate = [&](const auto& config) {
    if (config.optimizer.name == "prodigy") return Fate::finish;
    lingering = config.id();
    return Fate::linger;
  };
  executor.at_end = [&](const auto& trial) {
    if (trial == lingering) ask_to_cancel(world, "a");
  };
  world.run(yaml, executor);
  const auto charged = study_of(world, "a").total.value().epsilon;
  EXPECT_TRUE(std::filesystem::exists(world.out().key(lingering)));
  retry(world, "a");
  FakeExecutor rest;
  world.run(yaml, rest);
  EXPECT_EQ(study_of(world, "a").state, results::StudyState::concluded);
  EXPECT_EQ(study_of(world, "a").total.value().epsilon, charged)
      << "the same attempt, all of whose six steps were booked";
  EXPECT_FALSE(std::filesystem::exists(world.out().key(lingering)));
}

TEST(Cancel, AnAnswerIsNotCancelledAndNotRetried) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto& config) {
    return config.optimizer.name == "prodigy" ? Fate::finish : Fate::diverge;
  };
  world.run(spec_of(kThreeRows, "s"), executor);
  for (const char* row : {"a", "b"}) {
    const auto before = study_of(world, row);
    ASSERT_TRUE(carry_out(world.store(), world.out(), {.studies = {before.id}}));
    EXPECT_TRUE(results::same_outcome(study_of(world, row), before)) << row;
  }
  EXPECT_THAT(why_not_retried(study_of(world, "a"), true).value(), HasSubstr("end the same way"));
  EXPECT_THAT(why_not_retried(study_of(world, "a"), false).value(), HasSubstr("--fresh"));
  EXPECT_THAT(why_not_retried(study_of(world, "b"), true).value(), HasSubstr("has its value"));
}

class Requests : public ::testing::Test {
 protected:
  Requests() {
    std::filesystem::create_directories(world_.out().root);
    store_ = results::Store::open(world_.out().database(), results::Store::Mode::read_write).value();
  }
  World world_;
  std::unique_ptr<results::Store> store_;
};

TEST_F(Requests, WhereNobodyWorksTheyAreCarriedOutAtOnce) {
  const StudyRequest noted{.kind = StudyRequest::Kind::note, .studies = {"x"}, .note = "n"};
  const StudyRequest tagged{.kind = StudyRequest::Kind::tag, .studies = {"x"}, .add = {"b", "a"}};
  ASSERT_TRUE(leave_request(world_.out(), tagged));  // of a command that was killed
  ASSERT_TRUE(hand_in(world_.out(), noted));
  EXPECT_EQ(store_->notes().value().at("x"), (results::StudyNote{"x", "n", {"a", "b"}}));
  EXPECT_TRUE(std::filesystem::is_empty(world_.out().requests()));
  ASSERT_TRUE(hand_in(world_.out(), {.kind = StudyRequest::Kind::tag, .studies = {"x"}, .remove = {"b"}}));
  ASSERT_TRUE(hand_in(world_.out(), {.kind = StudyRequest::Kind::note, .studies = {"x"}}));
  EXPECT_EQ(store_->notes().value().at("x"), (results::StudyNote{"x", "", {"a"}}));
}

TEST_F(Requests, WhoeverWorksThereCarriesThemOut) {
  const auto lock = FolderLock::acquire(world_.out()).value();
  const StudyRequest tagged{.kind = StudyRequest::Kind::tag, .studies = {"x"}, .add = {"a"}};
  const auto unanswered = hand_in(world_.out(), tagged, std::chrono::milliseconds(100));
  ASSERT_FALSE(unanswered);
  EXPECT_THAT(unanswered.error().message, HasSubstr("did not answer"));
  EXPECT_THAT(take_requests(world_.out()), IsEmpty()) << "it was withdrawn";
  std::thread worker([&] {
    for (int look = 0; look < 400; ++look) {
      const auto taken = take_requests(world_.out());
      for (const auto& one : taken) {
        EXPECT_TRUE(carry_out(*store_, world_.out(), one.request));
        remove_request(one);
      }
      if (!taken.empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const auto answered = hand_in(world_.out(), tagged, std::chrono::seconds(10));
  worker.join();
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_THAT(store_->notes().value().at("x").tags, ElementsAre("a"));
}

TEST_F(Requests, TheirFolderIsTheOwnersAlone) {
  const auto path = leave_request(world_.out(), {}).value();
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(world_.out().requests()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  write_file_atomically(path, "no JSON").value();
  EXPECT_THAT(take_requests(world_.out()), IsEmpty());
  EXPECT_TRUE(fs::is_empty(world_.out().requests())) << "nobody would ever take it";
}

}  // namespace cancel_test
}  // namespace hyfreedp::runner
