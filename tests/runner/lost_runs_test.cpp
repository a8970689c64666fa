// Runs whose journal, key file or database record is lost: whatever is left tells what they cost.
#include <gmock/gmock.h>
#include <map>

#include "harness/runner/execute/cancelled_study.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/trial_book.h"
#include "tests/runner/release_records.h"

namespace hyfreedp::runner {
namespace lost_runs_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Two runs of six steps; unseeded.
const std::string kSpec = spec_of(kFixed, "tiny");

Spending only(World& world) {
  auto odometer = odometer_of(world.store(), world.out()).value();
  EXPECT_THAT(odometer.data, SizeIs(1));
  EXPECT_THAT(odometer.unreadable, IsEmpty());
  return odometer.data.at(0);
}

double epsilon_of(World& world) { return read_odometer(only(world), 1e-5).value().total.epsilon; }

std::int64_t steps_of(const Spending& spending) {
  std::int64_t steps = 0;
  for (const auto& event : spending.splits.at("private_train").events()) {
    steps += std::get<accounting::Batch>(event.what).count;
  }
  return steps;
}

// A world whose first run was killed with its coordinator; the run's trial.
std::string crash(World& world, Fate fate = Fate::crash) {
  FakeExecutor crashed;
  crashed.fate = [&](const auto&) { return fate; };
  EXPECT_FALSE(world.try_run(
      world.read(kSpec), crashed, [] { return false; }, false));
  for (const auto& id : crashed.submitted) {
    if (world.store().trial(id).value()) return id;
  }
  ADD_FAILURE() << "no run was begun";
  return "";
}

// Both rows of an unseeded spec, killed; what then becomes of journals, keys and database is the
// test's affair.
class LostRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeExecutor executor;
    executor.fate = [](const auto&) { return Fate::kill; };
    world_.run(kSpec, executor);
    runs_ = executor.submitted;
    ASSERT_THAT(runs_, SizeIs(2));
    once_ = epsilon_of(world_);
    ASSERT_EQ(steps_of(only(world_)), 2 * 6);
  }
  void lose_journals() {
    for (const auto& id : runs_) ASSERT_TRUE(std::filesystem::remove(world_.out().journal(id)));
  }
  void lose_keys() {
    for (const auto& id : runs_) ASSERT_TRUE(std::filesystem::remove(world_.out().key(id)));
  }
  // On the same machine, where nothing but journals and keys says that the runs were begun before.
  void finish() {
    FakeExecutor executor;
    EXPECT_THAT(world_.run(kSpec, executor).failed, IsEmpty());
    EXPECT_THAT(executor.submitted, SizeIs(2));
  }
  std::vector<double> row_epsilons() {
    std::vector<double> epsilons;
    for (const auto& study : world_.store().studies("tiny").value()) epsilons.push_back(study.total->epsilon);
    return epsilons;
  }
  // What was spent before is in the odometer and in each row.
  void expect_charged_twice() {
    EXPECT_EQ(steps_of(only(world_)), 2 * 12);
    World clean;
    FakeExecutor executor;
    clean.run(kSpec, executor);
    for (const double epsilon : row_epsilons()) {
      EXPECT_GT(epsilon, 1.05 * clean.store().studies("tiny").value().at(0).total->epsilon);
    }
  }

  World world_;
  std::vector<std::string> runs_;
  double once_ = 0;
};

TEST_F(LostRuns, GoOnForNothingWhereNothingIsLost) {
  finish();
  EXPECT_EQ(steps_of(only(world_)), 2 * 6);
  EXPECT_EQ(epsilon_of(world_), once_);
}

TEST_F(LostRuns, CountWhereTheirJournalsAreGone) {
  lose_journals();
  EXPECT_EQ(epsilon_of(world_), once_);
  finish();
  expect_charged_twice();
}

TEST_F(LostRuns, CountWhereTheDatabaseIsGoneToo) {
  lose_journals();
  world_.forget_database();
  EXPECT_EQ(epsilon_of(world_), once_) << "the keys know";
  finish();
  expect_charged_twice();
}

TEST_F(LostRuns, CountWhereTheirKeysAreGoneToo) {
  lose_journals();
  lose_keys();
  EXPECT_EQ(epsilon_of(world_), once_) << "the database knows";
  finish();
  expect_charged_twice();
}

TEST_F(LostRuns, CountWhereTheirKeysAloneAreGone) {
  lose_keys();
  finish();
  expect_charged_twice();
}

// The journals of another folder, in which the same runs were finished: other releases, not the
// ones of before.
TEST_F(LostRuns, CountBesideJournalsThatWerePutInTheirPlace) {
  World other;
  FakeExecutor executor;
  other.run(kSpec, executor);
  for (const auto& id : runs_) {
    std::filesystem::copy_file(other.out().journal(id), world_.out().journal(id),
                               std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_EQ(steps_of(only(world_)), 2 * 12);
  FakeExecutor none;
  world_.run(kSpec, none);
  EXPECT_THAT(none.submitted, IsEmpty());
  expect_charged_twice();
}

// A coordinator that noted that a worker is to begin, and was killed with it.
void begin_again(World& world, const std::vector<std::string>& runs) {
  TrialBook book(world.store(), world.out());
  for (const auto& id : runs) {
    const auto record = book.stored(id).value();
    ASSERT_TRUE(book.begin(trial::TrialConfig::from_json(record.config, id).value()));
    ASSERT_TRUE(book.stored(id).value().begun_after);
  }
}

TEST_F(LostRuns, CostNothingMoreWhereTheNextWorkerWroteNothing) {
  begin_again(world_, runs_);
  EXPECT_EQ(steps_of(only(world_)), 2 * 6);
  finish();
  EXPECT_EQ(steps_of(only(world_)), 2 * 6);
  EXPECT_EQ(epsilon_of(world_), once_);
  for (const auto& id : runs_) EXPECT_EQ(world_.store().trial(id).value()->attempts, 1);
}

TEST_F(LostRuns, CountWhereTheNextWorkerWroteNothingAndTheKeyIsGone) {
  begin_again(world_, runs_);
  lose_keys();
  EXPECT_EQ(steps_of(only(world_)), 2 * 12);
}

// A worker that was killed with its coordinator may still finish the write that it was in: its
// start line can appear after the next coordinator has read the journal. Whether it booked nothing,
// or its bookings were cut off, nobody knows: it is charged once.
TEST_F(LostRuns, AStartLineThatAppearsLateIsOneAttempt) {
  begin_again(world_, runs_);
  lose_keys();
  FakeExecutor executor;
  executor.at_submit = [&](const std::string& id) {
    const auto config = trial::TrialConfig::from_json(world_.store().trial(id).value()->config, id).value();
    ASSERT_TRUE(mechanism::JournalWriter::open(world_.out().journal(id), config, {}, {}));
  };
  world_.run(kSpec, executor);
  for (const auto& id : runs_) EXPECT_EQ(executor.attempts.at(id), 2);
}

TEST_F(LostRuns, StayChargedWhereTheirJournalsAreDamaged) {
  for (const auto& id : runs_) {
    auto text = read_file(world_.out().journal(id)).value();
    text[text.find("attempt")] = 'x';
    ASSERT_TRUE(write_file_atomically(world_.out().journal(id), text));
  }
  // The worker refuses them.
  class Refusing final : public Executor {
   public:
    void submit(Job job) override { jobs_.push_back(std::move(job)); }
    Result<std::vector<Update>> poll(std::chrono::milliseconds) override {
      std::vector<Update> updates;
      for (const auto& job : std::exchange(jobs_, {})) {
        Update update{.kind = Update::Kind::over, .job = job.id};
        update.failed = string_or(job.request, "type", "") == "run";
        update.failure_kind = kInternal;
        updates.push_back(std::move(update));
      }
      return updates;
    }
    void cancel(const std::string&) override {}
    void stop() override {}
    int slots() const override { return 1; }

   private:
    std::vector<Job> jobs_;
  } refusing;
  auto spec = world_.read(kSpec);
  ASSERT_TRUE(enter_spec(world_.store(), world_.out(), spec, false, false));
  std::ostream silent(nullptr);
  Progress progress(silent, Progress::Style::none);
  Coordinator coordinator(world_.store(), refusing, world_.out(), progress);
  ASSERT_TRUE(coordinator.run(spec, [] { return false; }));
  for (const auto& id : runs_) {
    EXPECT_FALSE(world_.store().trial(id).value()->events.empty()) << "what was recorded is forgotten";
  }
  const auto odometer = odometer_of(world_.store(), world_.out()).value();
  EXPECT_THAT(odometer.unreadable, SizeIs(2));
  EXPECT_EQ(steps_of(odometer.data.at(0)), 2 * 6);
}

// The runs of kSpec, with 300 steps, of which a killed one books 128 and is charged all as long as
// it is not over.
const std::string kLonger = [] {
  auto text = kSpec;
  return text.replace(text.find("steps: 6"), 8, "steps: 300");
}();

// Killed or interrupted, recorded, and then an older copy of its journal in its place.
class OlderCopies : public ::testing::TestWithParam<Fate> {
 protected:
  void SetUp() override {
    FakeExecutor executor;
    executor.fate = [](const auto&) { return GetParam(); };
    world_.run(kLonger, executor);
    ASSERT_EQ(steps_of(only(world_)), 2 * 300);
    for (const auto& id : executor.submitted) {
      const auto text = read_file(world_.out().journal(id)).value();
      ASSERT_TRUE(write_file_atomically(world_.out().journal(id), text.substr(0, text.find('\n') + 1)));
    }
    EXPECT_EQ(steps_of(only(world_)), 2 * 300);
  }
  World world_;
};

TEST_P(OlderCopies, AddWhatWasRecordedToWhatIsDoneAnew) {
  FakeExecutor executor;
  executor.machine = "another";
  world_.run(kLonger, executor);
  EXPECT_EQ(steps_of(only(world_)), 2 * (300 + 300));
}

TEST_P(OlderCopies, AreTheSameReleaseUnderTheSameKey) {
  FakeExecutor executor;
  world_.run(kLonger, executor);
  EXPECT_EQ(steps_of(only(world_)), 2 * 300);
}

// What is missing in the copy may be a run to its end, by a worker of which nothing is known.
TEST_P(OlderCopies, AreChargedWholeWhereAWorkerWasToBegin) {
  std::vector<std::string> runs;
  for (const auto& record : world_.store().trials().value()) runs.push_back(record.id);
  begin_again(world_, runs);
  EXPECT_EQ(steps_of(only(world_)), 2 * 300);
  FakeExecutor executor;
  executor.machine = "another";
  world_.run(kLonger, executor);
  EXPECT_EQ(steps_of(only(world_)), 2 * (300 + 300));
}

INSTANTIATE_TEST_SUITE_P(LostRuns, OlderCopies, ::testing::Values(Fate::kill, Fate::cancel));

// A journal that vanishes while its run goes on, with its key.
TEST(LostRun, IsChargedWholeWhenJournalAndKeyVanishMeanwhile) {
  World world;
  FakeExecutor executor;
  executor.at_end = [&](const std::string& id) {
    std::filesystem::remove(world.out().journal(id));
    std::filesystem::remove(world.out().key(id));
  };
  const auto report = world.run(kSpec, executor);
  EXPECT_THAT(report.failed, SizeIs(2));
  EXPECT_EQ(steps_of(only(world)), 2 * 6);
  FakeExecutor again;
  EXPECT_THAT(world.run(kSpec, again).failed, IsEmpty());
  EXPECT_EQ(steps_of(only(world)), 2 * 12);
  world.forget_database();
  EXPECT_EQ(steps_of(only(world)), 2 * 12) << "the journal has it too";
}

// After Ctrl-C, or a coordinator that was killed.
TEST(LostRun, IsChargedWholeWhenJournalAndKeyOfAnInterruptedRunVanish) {
  World world;
  FakeExecutor executor;
  executor.fate = [](const auto&) { return Fate::cancel; };
  world.run(kSpec, executor);
  EXPECT_EQ(steps_of(only(world)), 2 * 6);
  for (const auto& id : executor.submitted) {
    std::filesystem::remove(world.out().journal(id));
    std::filesystem::remove(world.out().key(id));
  }
  EXPECT_EQ(steps_of(only(world)), 2 * 6);
  FakeExecutor again;
  world.run(kSpec, again);
  EXPECT_EQ(steps_of(only(world)), 2 * 12);
}

TEST(LostRun, ARunThatNoWorkerGotCostsNothing) {
  World world;
  FakeExecutor executor;
  world.run(kSpec, executor, [&] { return !executor.submitted.empty(); });
  ASSERT_THAT(executor.submitted, Not(IsEmpty()));
  EXPECT_THAT(odometer_of(world.store(), world.out()).value().data, IsEmpty());
}

TEST(LostRun, CostsNothingWhereItsWorkerWasSeenToEndBeforeItsFirstLine) {
  World world;
  FakeExecutor killed;
  killed.fate = [](const auto&) { return Fate::unwritten; };
  world.run(kSpec, killed);
  EXPECT_THAT(only(world).splits, IsEmpty());
  FakeExecutor executor;
  EXPECT_THAT(world.run(kSpec, executor).failed, IsEmpty());
  EXPECT_EQ(steps_of(only(world)), 2 * 6);
}

// Whoever deletes them, or empties the one and deletes the other, leaves what a worker leaves that
// was killed before its first line.
TEST(LostRun, IsChargedWholeWhereNobodySawItsWorkerEndAndItsFilesAreGone) {
  for (const auto fate : {Fate::crash, Fate::crash_unwritten}) {
    World world;
    const auto id = crash(world, fate);
    ASSERT_EQ(std::filesystem::exists(world.out().journal(id)), fate == Fate::crash);
    if (fate == Fate::crash) std::filesystem::resize_file(world.out().journal(id), 0);
    std::filesystem::remove(world.out().key(id));
    EXPECT_EQ(steps_of(only(world)), 6);
    FakeExecutor executor;
    EXPECT_THAT(world.run(kSpec, executor).failed, IsEmpty());
    EXPECT_EQ(steps_of(only(world)), 3 * 6);
  }
}

void cut_to_first_line(const std::string& journal) {
  const auto text = read_file(journal).value();
  std::filesystem::resize_file(journal, text.find('\n') + 1);
}

TEST(LostRun, IsChargedWholeWhereItsJournalWasCutToItsFirstLine) {
  for (const bool keeps_key : {true, false}) {
    World world;
    const auto id = crash(world);
    cut_to_first_line(world.out().journal(id));
    if (!keeps_key) std::filesystem::remove(world.out().key(id));
    EXPECT_EQ(steps_of(only(world)), 6);
    FakeExecutor executor;
    EXPECT_THAT(world.run(kSpec, executor).failed, IsEmpty());
    // Under its key the run goes on with the attempt that was charged.
    EXPECT_EQ(steps_of(only(world)), keeps_key ? 2 * 6 : 3 * 6);
  }
}

TEST(LostRun, IsChargedWholeWhereItsJournalWasCutAndTheDatabaseIsGone) {
  World world;
  FakeExecutor executor;
  world.run(kSpec, executor);
  for (const auto& id : executor.submitted) cut_to_first_line(world.out().journal(id));
  world.forget_database();
  EXPECT_EQ(steps_of(only(world)), 2 * 6);
}

// An attempt under another key had begun: the older key does not stand for it.
TEST_F(LostRuns, CountWhereAnOlderKeyIsPutBack) {
  std::map<std::string, std::string> keys;
  for (const auto& id : runs_) keys[id] = read_file(world_.out().key(id)).value();
  lose_keys();
  FakeExecutor crashed;
  crashed.fate = [](const auto&) { return Fate::crash; };
  ASSERT_FALSE(world_.try_run(
      world_.read(kSpec), crashed, [] { return false; }, false));
  EXPECT_EQ(steps_of(only(world_)), 3 * 6);
  for (const auto& [id, key] : keys) ASSERT_TRUE(write_file_atomically(world_.out().key(id), key, 0600));
  lose_journals();
  EXPECT_GE(steps_of(only(world_)), 3 * 6);
}

TEST(LostRun, KeysThatWereNotPutInPlaceAreTidiedAway) {
  World world;
  FakeExecutor executor;
  executor.at_end = [&](const std::string& id) {
    ASSERT_TRUE(write_file_atomically(world.out().key(id) + ".tmp-123", "unfinished", 0600));
  };
  world.run(kSpec, executor);
  EXPECT_TRUE(std::filesystem::is_empty(world.out().keys()));
}

// A key that no row needs any more is deleted, and with it what it alone knew: that goes into the
// database before.
TEST(LostRun, StaysChargedWhenItsKeyIsTidiedAway) {
  World world;
  FakeExecutor stopped;
  stopped.fate = [](const auto&) { return Fate::cancel; };
  world.run(kSpec, stopped);
  for (const auto& id : stopped.submitted) {
    std::filesystem::remove(world.out().journal(id));
  }
  EXPECT_EQ(steps_of(only(world)), 2 * 6);
  FakeExecutor fresh;
  world.run(
      world.read(kSpec), fresh, [] { return false; }, true);
  for (const auto& id : stopped.submitted) {
    EXPECT_THAT(fresh.submitted, Not(::testing::Contains(id))) << "a new release has other runs";
    EXPECT_FALSE(std::filesystem::exists(world.out().key(id)));
  }
  EXPECT_EQ(steps_of(only(world)), 2 * 12);
  world.forget_database();
  EXPECT_EQ(steps_of(only(world)), 2 * 12) << "what the deleted key told is in no journal";
}

TEST(LostRun, AKeyOfAnOlderVersionWithoutItsJournalIsNamed) {
  World world;
  ASSERT_TRUE(write_file_atomically(world.out().key("abandoned"),
                                    "hyfreedp key 1\n" + std::string(64, 'a') + "\n", 0600));
  const auto odometer = odometer_of(world.store(), world.out()).value();
  ASSERT_THAT(odometer.unreadable, SizeIs(1));
  EXPECT_THAT(odometer.unreadable.at(0),
              HasSubstr("the journal of the run that this key was made for is missing"));
}

// Two rows share the run. Commands that change the folder each begin with catch_up().
TEST(CatchingUp, ChargesARunThatWasKilledBeforeItBookedOnce) {
  const auto yaml =
      spec_of(kFixed + "      - {id: again, method: fixed-rate, options: {lr: 5e-2}}\n", "tiny");
  for (const auto fate : {Fate::crash, Fate::crash_unwritten}) {
    World world(World::Database::in_folder);
    FakeExecutor killed, executor;
    killed.fate = [&](const auto&) { return fate; };
    EXPECT_FALSE(world.try_run(world.read(yaml), killed, kNever, false));
    const auto once = epsilon_of(world);
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(catch_up(world.store(), world.out()));
      EXPECT_DOUBLE_EQ(epsilon_of(world), once);
    }
    const auto run = world.store().trials().value().at(0);
    world.run(yaml, executor);
    const auto ended = world.store().trial(run.id).value().value();
    EXPECT_EQ(ended.charged.size(), fate == Fate::crash ? 1U : 2U) << "attempts";
  }
}

}  // namespace lost_runs_test
}  // namespace hyfreedp::runner
