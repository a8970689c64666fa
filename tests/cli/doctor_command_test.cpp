// What `hyfreedp doctor` finds, what it mends, and that nothing of it tells how many runs a private
// selection made.
#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness/runner/upkeep/doctor.h"
#include "tests/cli/folder_world.h"

namespace hyfreedp::cli {
namespace doctor_command_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNothing = "Nothing is wrong";

// Of a process that has been and is gone.
int dead_process() {
  const int child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

class Doctor : public FolderTest {
 protected:
  Doctor() : FolderTest("doctor") {}

  void SetUp() override {
    FolderTest::SetUp();
    // Programs that are there, whatever this machine has.
    ::setenv("HYFREEDP_WORKER", file("worker", "").c_str(), 1);
    const auto programs = folder_ / "programs";
    fs::create_directory(programs);
    fs::create_symlink("/bin/true", programs / "gnuplot");
    path_before_ = std::getenv("PATH");
    ::setenv("PATH", programs.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("HYFREEDP_WORKER");
    ::setenv("PATH", path_before_.c_str(), 1);
    FolderTest::TearDown();
  }

  std::string examine(int code, std::vector<std::string> further = {}) {
    further.insert(further.end(), {"--out", path("out")});
    EXPECT_EQ(run(further), code) << out() << err();
    return out();
  }
  std::string first_trial() const { return store("out")->trials()->at(0).id; }
  static fs::perms mode_of(const std::string& path) { return fs::status(path).permissions(); }
  static void open_to_all(const std::string& path) { ASSERT_EQ(::chmod(path.c_str(), 0755), 0); }
  void damage(const std::string& path) const {
    auto text = read_file(path).value();
    text[text.find("\"step\"") + 1] = 'S';
    ASSERT_TRUE(write_file_atomically(path, text, 0600));
  }

  std::string path_before_;
};

TEST_F(Doctor, FindsNothingWhereNothingIsWrong) {
  fill("out", spec_of(kSelectionRow + kProdigyRow));
  EXPECT_THAT(examine(0), HasSubstr(kNothing));
  fill("out", spec_of(kSelectionRow + kProdigyRow, "seeded", "s-1"));
  EXPECT_THAT(examine(0, {"--confidential"}), HasSubstr(kNothing));
  // What the next run continues is not wrong.
  fill_killed("out", spec_of(kFixedRow + kSelectionRow, "killed"));
  EXPECT_THAT(examine(0), HasSubstr(kNothing));
  // A database that was rebuilt does not list a private selection's losing runs, and cannot.
  std::size_t drawn = 0;
  for (int attempt = 0; drawn < 2 && attempt < 30; ++attempt) {
    fs::remove_all(path("out"));
    fill("out", spec_of(kSelectionRow));
    drawn = store("out")->trials()->size();
  }
  ASSERT_GE(drawn, 2u);
  fs::remove(folder("out").database());
  fill("out", spec_of(kSelectionRow));
  EXPECT_THAT(examine(0), HasSubstr(kNothing));
}

TEST_F(Doctor, ClosesWhatOthersCanRead) {
  fill_killed("out", spec_of(kFixedRow));
  const auto out_folder = folder("out");
  const auto id = first_trial();
  const auto report = path("out") + "/hidden/report.confidential.html";
  fs::create_directories(path("out") + "/hidden");
  std::ofstream(report) << "x";
  const std::vector<std::string> opened = {out_folder.database(),  out_folder.journals(), out_folder.keys(),
                                           out_folder.journal(id), out_folder.key(id),    report};
  for (const auto& path : opened) open_to_all(path);
  const auto found = examine(1);
  for (const auto& path : {opened[0], opened[1], opened[2], opened[1] + "/*", opened[2] + "/*", report}) {
    EXPECT_THAT(found, HasSubstr("permissions  " + path + ": other users")) << path;
  }
  EXPECT_THAT(found, HasSubstr("--repair does it. Cost: none."));
  EXPECT_EQ(mode_of(opened[1]) & fs::perms::group_all, fs::perms::group_read | fs::perms::group_exec)
      << "nothing is changed without --repair";
  const auto mended = examine(0, {"--repair"});
  EXPECT_THAT(mended, HasSubstr("0 findings left, 6 repaired.")) << "the key can be read now";
  for (const auto& path : opened) {
    EXPECT_EQ(mode_of(path) & (fs::perms::group_all | fs::perms::others_all), fs::perms::none) << path;
  }
  EXPECT_THAT(examine(0), HasSubstr(kNothing));
}

// A link may point anywhere.
TEST_F(Doctor, DoesNotFollowLinks) {
  fill("out", spec_of(kFixedRow));
  const auto target = file("elsewhere", "x");
  fs::create_symlink(target, folder("out").journals() + "/" + "0123456789abcdef.jsonl");
  open_to_all(target);
  examine(0, {"--repair"});
  EXPECT_NE(mode_of(target) & fs::perms::others_read, fs::perms::none);
}

TEST_F(Doctor, RemovesTemporaryFilesOfDeadProcessesAlone) {
  fill_killed("out", spec_of(kFixedRow));
  const auto dead = std::to_string(dead_process());
  const auto out_folder = folder("out");
  const auto id = first_trial();
  fs::create_directories(path("out") + "/hidden/plots");
  const std::vector<std::string> gone = {path("out") + "/x.tmp-" + dead, out_folder.key(id) + ".tmp-" + dead,
                                         path("out") + "/hidden/plots/a.tmp-" + dead + ".svg"};
  const std::vector<std::string> kept = {path("out") + "/x.tmp-" + std::to_string(::getpid()),
                                         path("out") + "/x.tmp-" + dead + "x", path("out") + "/tmp-" + dead};
  for (const auto& list : {gone, kept}) {
    for (const auto& name : list) ASSERT_TRUE(write_file_atomically(name, "x", 0600));
  }
  fs::create_directory(path("out") + "/folder.tmp-" + dead);
  const auto found = examine(1);
  EXPECT_THAT(found, HasSubstr("leftover files  " + gone[0]));
  EXPECT_THAT(found, HasSubstr("leftover files  " + out_folder.keys() + ": processes that were killed"));
  EXPECT_THAT(found, Not(HasSubstr(id)));
  EXPECT_THAT(examine(0, {"--repair"}), HasSubstr("0 findings left, 3 repaired."));
  for (const auto& name : gone) EXPECT_FALSE(fs::exists(name)) << name;
  for (const auto& name : kept) EXPECT_TRUE(fs::exists(name)) << name;
  EXPECT_TRUE(fs::exists(path("out") + "/folder.tmp-" + dead));
  EXPECT_TRUE(fs::exists(out_folder.key(id)));
}

TEST_F(Doctor, SaysWhatALostOrDamagedFileOfARunCosts) {
  fill_killed("out", spec_of(kFixedRow));
  const auto id = first_trial();
  const auto journal = read_file(folder("out").journal(id)).value();
  const auto key = read_file(folder("out").key(id)).value();
  const auto before = odometer("out");

  fs::remove(folder("out").journal(id));
  EXPECT_THAT(examine(1, {"--repair"}), HasSubstr("keys  " + folder("out").key(id) +
                                                  ": the journal of the run that this key was made for is "
                                                  "lost. Put the journal back from a copy. --repair leaves "
                                                  "it to you. Cost: without it, every attempt up to the "
                                                  "key's is charged whole."));
  EXPECT_THAT(out(), Not(HasSubstr(key.substr(key.find('\n') + 1, 64)))) << "the key itself";
  ASSERT_TRUE(write_file_atomically(folder("out").journal(id), journal, 0600));

  fs::remove(folder("out").key(id));
  EXPECT_THAT(examine(1),
              HasSubstr("keys  " + folder("out").key(id) + ": the key of an interrupted run is lost"));
  EXPECT_THAT(out(), HasSubstr("the epsilon of at most one whole run is charged again"));
  ASSERT_TRUE(write_file_atomically(folder("out").key(id), "hyfreedp key 2\n", 0600));
  EXPECT_THAT(examine(1), HasSubstr("keys  " + folder("out").key(id) + ": the key cannot be read"));
  ASSERT_TRUE(write_file_atomically(folder("out").key(id), key, 0600));

  damage(folder("out").journal(id));
  EXPECT_THAT(examine(1), HasSubstr("journals  " + folder("out").journal(id) + ": the journal was changed"));
  ASSERT_TRUE(write_file_atomically(folder("out").journal(id), journal, 0600));
  EXPECT_THAT(examine(0), HasSubstr(kNothing));
  EXPECT_EQ(odometer("out"), before);
}

TEST_F(Doctor, FindsKeysOfWhatIsOver) {
  fill_killed("out", spec_of(kFixedRow));
  const auto id = first_trial();
  const auto key = read_file(folder("out").key(id)).value();
  fill("out", spec_of(kFixedRow));
  ASSERT_TRUE(write_file_atomically(folder("out").key(id), key, 0600));
  ASSERT_TRUE(random::create_or_read_key(folder("out").draw_key("hidden")));
  const auto found = examine(1, {"--repair"});
  EXPECT_THAT(found, HasSubstr("the key of a finished run is left; whoever holds it can take the noise off"));
  EXPECT_THAT(found, HasSubstr("hidden.draws.key: the key of the spec's draws is left"));
  EXPECT_TRUE(fs::exists(folder("out").key(id))) << "keys are never touched";
}

// Of several interrupted runs of one selection all but one are taken away: nothing of what is shown
// may change.
TEST_F(Doctor, RunsOfASelectionAreNeitherNamedNorCounted) {
  std::vector<results::TrialRecord> trials;
  for (int attempt = 0; trials.size() < 3 && attempt < 30; ++attempt) {
    fs::remove_all(path("out"));
    fill_killed("out", spec_of(kSelectionRow));
    trials = store("out")->trials().value();
  }
  ASSERT_GE(trials.size(), 3u);
  const auto out_folder = folder("out");
  for (const auto& trial : trials) {
    damage(out_folder.journal(trial.id));
    open_to_all(out_folder.journal(trial.id));
    open_to_all(out_folder.key(trial.id));
    ASSERT_TRUE(write_file_atomically(out_folder.journal(trial.id) + ".tmp-" + std::to_string(dead_process()),
                                      "x", 0600));
  }
  const auto several = examine(1);
  EXPECT_THAT(several,
              HasSubstr("a journal was changed after it was written, or cannot be read; --confidential"));
  EXPECT_THAT(several,
              HasSubstr("permissions  " + out_folder.keys() + "/*: other users may read files in it"));
  const auto all = examine(1, {"--confidential"});
  EXPECT_THAT(all, HasSubstr("CONFIDENTIAL"));
  for (const auto& trial : trials) {
    EXPECT_THAT(several, Not(HasSubstr(trial.id)));
    EXPECT_THAT(all, HasSubstr(trial.id));
  }
  for (std::size_t i = 1; i < trials.size(); ++i) {
    for (const auto& entry : fs::directory_iterator(out_folder.journals())) {
      if (entry.path().filename().string().starts_with(trials[i].id)) fs::remove(entry.path());
    }
    fs::remove(out_folder.key(trials[i].id));
  }
  EXPECT_EQ(examine(1), several);
}

TEST_F(Doctor, FindsWhatIsWrongWithTheDatabase) {
  fill("out", spec_of(kFixedRow));
  const auto database = folder("out").database();
  {
    SQLite::Database raw(database, SQLite::OPEN_READWRITE);
    raw.exec("PRAGMA foreign_keys = OFF; DELETE FROM trials; PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const auto found = examine(1, {"--repair"});
  EXPECT_THAT(found, HasSubstr("database  " + database +
                               ": the table metrics has lines that belong to no line of trials"));
  EXPECT_THAT(found,
              HasSubstr("the run that a row reports is missing (hidden, small, fixed, epsilon 3.0, seed 0)"));
  EXPECT_THAT(found, HasSubstr("the database does not have")) << "the journal's run";
  {
    std::fstream bytes(database, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(4096 + 8);
    bytes << std::string(4000, 'x');
  }
  EXPECT_THAT(examine(1), HasSubstr("database  " + database + ": "));
  EXPECT_THAT(out(), HasSubstr("from a copy"));
  fs::remove(database);
  EXPECT_THAT(examine(1), HasSubstr(database + ": the database is missing"));
}

TEST_F(Doctor, FindsAChangedReleaseRecord) {
  fill("out", spec_of(kFixedRow));
  const auto record = folder("out").release_record("hidden");
  ASSERT_TRUE(write_file_atomically(record, read_file(record).value() + " ", 0600));
  EXPECT_THAT(examine(0), HasSubstr(kNothing)) << "white space says nothing";
  ASSERT_TRUE(write_file_atomically(record, "{}", 0600));
  EXPECT_THAT(examine(1), HasSubstr("release record  " + record + ": the release record cannot be read"));
}

TEST_F(Doctor, FindsStagedWeightsThatNobodyWaitsFor) {
  fill("out", spec_of(kFixedRow));
  const auto staged = folder("out").staged_weights("hidden");
  const auto other = folder("out").staged_weights("gone");
  ASSERT_TRUE(make_private_folder(fs::path(staged).parent_path().string()));
  for (const auto& name : {staged, other}) ASSERT_TRUE(make_private_folder(name));
  const auto found = examine(1);
  EXPECT_THAT(found, HasSubstr("staged weights  " + staged + ": weights are staged though every row"));
  EXPECT_THAT(found, HasSubstr("staged weights  " + other + ": weights were staged for a spec that"));
  fs::remove_all(other);
  fill_killed("out", spec_of(kProdigyRow, "open"));
  fs::rename(staged, folder("out").staged_weights("open"));
  EXPECT_THAT(examine(0), HasSubstr(kNothing)) << "the run that completes the spec publishes them";
}

TEST_F(Doctor, FindsCheckpointsThatNoRunGoesOnFrom) {
  fill_killed("out", spec_of(kFixedRow));
  const auto of_killed = folder("out").checkpoints(first_trial());
  ASSERT_TRUE(make_private_folder(fs::path(of_killed).parent_path().string()));
  ASSERT_TRUE(make_private_folder(of_killed));
  EXPECT_THAT(examine(0), HasSubstr(kNothing)) << "the next run goes on from them";
  fill("out", spec_of(kFixedRow));
  EXPECT_FALSE(fs::exists(of_killed)) << "the run is over";
  ASSERT_TRUE(make_private_folder(fs::path(of_killed).parent_path().string()));
  ASSERT_TRUE(make_private_folder(of_killed));
  EXPECT_THAT(examine(1),
              HasSubstr("checkpoints  " + of_killed + ": checkpoints of a run that is over are left"));
  fs::rename(of_killed, folder("out").checkpoints("nobody"));
  EXPECT_THAT(examine(1),
              HasSubstr("checkpoints are left of a run whose journal is lost; --confidential names"));
  fill("out", spec_of(kFixedRow));
  EXPECT_THAT(examine(0), HasSubstr(kNothing));
}

TEST_F(Doctor, FindsMissingPrograms) {
  fill("out", spec_of(kFixedRow));
  ::setenv("HYFREEDP_WORKER", "/nowhere/worker", 1);
  ::setenv("PATH", path("empty").c_str(), 1);
  const auto found = examine(1);
  EXPECT_THAT(found,
              HasSubstr("programs  hyfreedp-worker: the program that trains is missing. HYFREEDP_WORKER"));
  EXPECT_THAT(found, HasSubstr("programs  gnuplot: "));
  EXPECT_THAT(found, HasSubstr("2 findings left."));
}

TEST_F(Doctor, JudgesNoFilesOfARunThatIsUnderWay) {
  fill_killed("out", spec_of(kFixedRow));
  fs::remove(folder("out").journal(first_trial()));
  const auto lock = runner::FolderLock::acquire(folder("out"));
  ASSERT_TRUE(lock);
  EXPECT_THAT(examine(0), HasSubstr(fmt::format("Process {} works in", ::getpid())));
  expect_refused({"--repair", "--out", path("out")}, {"is in use by another hyfreedp run"});
}

TEST_F(Doctor, TellsALockWhoseWriterIsGone) {
  fill("out", spec_of(kFixedRow));
  const auto lock = runner::FolderLock::acquire(folder("out"));
  ASSERT_TRUE(lock);
  std::ofstream(folder("out").lock(), std::ios::in | std::ios::out) << dead_process() << "\n      \n";
  EXPECT_THAT(examine(1), HasSubstr("lock  " + folder("out").lock() + ": the lock is held, but the process"));
}

TEST_F(Doctor, BadInputIsRefused) {
  expect_refused({"--out", path("nowhere")}, {"there is no folder"});
  fs::create_directory(path("empty"));
  expect_refused({"--out", path("empty")}, {"has no database"});
}

}  // namespace doctor_command_test
}  // namespace hyfreedp::cli
