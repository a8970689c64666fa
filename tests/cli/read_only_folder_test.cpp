// A finished output folder that its reader cannot write: every command that reads shows it.
#include <SQLiteCpp/SQLiteCpp.h>
#include <array>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cli/folder_world.h"

namespace hyfreedp::cli {
namespace read_only_folder_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uid_t kNobody = 65534;

struct Said {
  int code = -1;
  std::string text;  // both streams
};

// In a process that may not write into the folder: root is nobody there.
Said as_reader(const std::function<int(std::ostream&)>& body) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const auto child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::ostringstream out;
    int code = 99;
    if (::geteuid() != 0 ||
        (::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0))
      code = body(out);
    const auto text = out.str();
    for (std::size_t done = 0; done < text.size();) {
      const auto written = ::write(ends[1], text.data() + done, text.size() - done);
      if (written <= 0) break;
      done += static_cast<std::size_t>(written);
    }
    ::_exit(code);
  }
  ::close(ends[1]);
  Said said;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;)
    said.text.append(piece.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

class ReadOnlyFolder : public FolderTest {
 protected:
  ReadOnlyFolder() : FolderTest("read-only") {}

  void TearDown() override {
    for (const auto& entry : fs::recursive_directory_iterator(path("out")))
      if (entry.is_directory()) ::chmod(entry.path().c_str(), 0755);
    ::chmod(path("out").c_str(), 0755);
    FolderTest::TearDown();
  }

  void close_folder() const {
    for (const auto& entry : fs::recursive_directory_iterator(path("out")))
      ::chmod(entry.path().c_str(), entry.is_directory() ? 0555 : 0444);
    ::chmod(path("out").c_str(), 0555);
  }

  Said said(std::vector<std::string> arguments, const std::string& option = "--out") const {
    if (!option.empty()) arguments.insert(arguments.end(), {option, path("out")});
    return as_reader([&](std::ostream& out) { return dispatch(arguments, out, out); });
  }

  void expect_readable(const char* how) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"table", "hidden"},
                                                      {"table", "hidden", "--format", "csv"},
                                                      {"table", "hidden", "--ledger"},
                                                      {"export", "rows", "hidden"},
                                                      {"export", "values", "hidden"},
                                                      {"status"},
                                                      {"list", "runs"},
                                                      {"trace", "hidden", "fixed", "3"},
                                                      {"export-cell", "hidden", "fixed", "3"},
                                                      {"odometer"},
                                                      {"doctor"},
                                                      {"watch"},
                                                      {"report", "hidden", "--output", "/dev/null"}}) {
      const auto got = said(arguments);
      EXPECT_THAT(got.text, Not(HasSubstr("unable to open"))) << how << ", " << arguments[0];
      EXPECT_THAT(got.text, Not(HasSubstr("SQLite failed"))) << how << ", " << arguments[0];
      if (arguments[0] == "doctor") continue;  // finds that others may read it
      EXPECT_EQ(got.code, 0) << how << ", " << arguments[0] << ' ' << arguments.back() << '\n' << got.text;
    }
  }
};

// The last writer left a file that asks for nothing beside it.
TEST_F(ReadOnlyFolder, IsReadByEveryCommandAndByAnybodysSqlite) {
  fill("out", spec_of(kProdigyRow + kFixedRow));
  EXPECT_FALSE(fs::exists(folder("out").database() + "-wal"));
  close_folder();
  const auto read = as_reader([&](std::ostream& out) {
    SQLite::Database database("file:" + folder("out").database() + "?mode=ro",
                              SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    out << database.execAndGet("SELECT count(*) FROM cells").getInt();
    return 0;
  });
  EXPECT_EQ(read.text, "2");
  EXPECT_EQ(read.code, 0);
  expect_readable("finished");
}

// By a version that left the mode of the log in the file, or where somebody looked on.
TEST_F(ReadOnlyFolder, IsReadWithALogThatIsEmpty) {
  fill("out", spec_of(kProdigyRow + kFixedRow));
  SQLite::Database(folder("out").database(), SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = WAL");
  close_folder();
  expect_readable("mode of the log");
}

TEST_F(ReadOnlyFolder, WithALogThatIsNotTakenInSaysWhatToDo) {
  fill("out", spec_of(kProdigyRow));
  const auto database = folder("out").database();
  {
    SQLite::Database writer(database, SQLite::OPEN_READWRITE);
    writer.exec("PRAGMA journal_mode = WAL");
    writer.exec("UPDATE studies SET seconds = 3");
    fs::copy(database + "-wal", path("kept-wal"));
  }
  fs::copy(path("kept-wal"), database + "-wal");
  close_folder();
  const auto got = said({"table", "hidden"});
  EXPECT_EQ(got.code, 2) << got.text;
  EXPECT_THAT(got.text, HasSubstr(database + "-wal"));
  EXPECT_THAT(got.text, HasSubstr("copy the folder to a place where you may write"));
}

// A writer is killed in the middle of a change of the file.
void kill_in_a_change(const std::string& database) {
  const auto child = ::fork();
  if (child == 0) {
    SQLite::Database writer(database, SQLite::OPEN_READWRITE);
    for (const char* one : {"PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN IMMEDIATE",
                            "UPDATE studies SET panel = 'changed'",
                            "CREATE TABLE large AS SELECT randomblob(1000000) AS bytes"})
      writer.exec(one);
    ::_exit(0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(fs::exists(database + "-journal"));
}

TEST_F(ReadOnlyFolder, WithAChangeThatWasNotCompletedSaysWhatToDo) {
  fill("out", spec_of(kProdigyRow));
  const auto database = folder("out").database();
  kill_in_a_change(database);
  const auto kept = path("kept");
  fs::copy(path("out"), kept, fs::copy_options::recursive);
  close_folder();
  for (const bool folder_too : {true, false}) {
    if (!folder_too) ::chmod(path("out").c_str(), 0777);
    const auto got = said({"table", "hidden"});
    EXPECT_EQ(got.code, 2) << got.text;
    EXPECT_THAT(got.text, HasSubstr(database + "-journal"));
    EXPECT_THAT(got.text, HasSubstr("copy the folder to a place where you may write"));
  }
  // There, each command reads what was before.
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"export", "rows", "hidden"}, {"odometer"}, {"doctor"}}) {
    const auto copy = path("copy");
    fs::remove_all(copy);
    fs::copy(kept, copy, fs::copy_options::recursive);
    auto command = arguments;
    command.insert(command.end(), {"--out", copy});
    std::ostringstream out;
    EXPECT_EQ(dispatch(command, out, out), 0) << arguments[0] << '\n' << out.str();
    EXPECT_THAT(out.str(), Not(HasSubstr("changed"))) << arguments[0];
  }
}

TEST_F(ReadOnlyFolder, OfAnotherUserSaysWhoCanShowIt) {
  fill("out", spec_of(kProdigyRow));
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs a second user, so root";
  const auto got = said({"table", "hidden"});
  EXPECT_EQ(got.code, 2);
  EXPECT_THAT(got.text, HasSubstr("Permission denied"));
  EXPECT_THAT(got.text, HasSubstr("its owner's alone"));
}

// Tables are printed where their files cannot be written; what is asked for as files is not.
TEST_F(ReadOnlyFolder, TellsWhatIsNotWritten) {
  fill("out", spec_of(kProdigyRow));
  close_folder();
  EXPECT_THAT(said({"table", "hidden"}).text,
              HasSubstr("cannot be written, so table.md, .csv, .tex and .html"));
  const auto report = said({"report", "hidden"});
  EXPECT_EQ(report.code, 2);
  EXPECT_THAT(report.text, HasSubstr("cannot be written; name a file with --output"));
  EXPECT_EQ(said({"plot", "hidden"}).code, 2);
}

TEST_F(ReadOnlyFolder, IsMergedFrom) {
  fill("out", spec_of(kProdigyRow));
  close_folder();
  const auto got = as_reader([&](std::ostream& out) {
    const auto into = fs::temp_directory_path() / ("hyfreedp-merged-" + std::to_string(::getpid()));
    const int code = dispatch({"merge", path("out"), "--out", into.string()}, out, out);
    fs::remove_all(into);
    return code;
  });
  EXPECT_EQ(got.code, 0) << got.text;
}

}  // namespace read_only_folder_test
}  // namespace hyfreedp::cli
