// Files of other versions and of other programs.
#include "results/store/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "results/provenance/export.h"
#include "results/store/store.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace schema_test {

class Schema : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("hyfreedp-schema-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "hyfreedp.sqlite").string(); }
  std::filesystem::path folder_;
};

TEST_F(Schema, ANewDatabaseHasTheCurrentVersion) {
  ASSERT_TRUE(Store::open(path(), Store::Mode::read_write));
  SQLite::Database database(path(), SQLite::OPEN_READONLY);
  EXPECT_EQ(*schema_version(database, path()), kSchemaVersion);
}

// results/README.md says of every table what of a private selection it would give away.
TEST_F(Schema, TheReadmeSaysOfEveryTableWhatMustNotBeTold) {
  ASSERT_TRUE(Store::open(path(), Store::Mode::read_write));
  SQLite::Database database(path(), SQLite::OPEN_READONLY);
  SQLite::Statement tables(
      database, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const auto readme = read_file(HYFREEDP_SOURCE_DIR "/results/README.md").value();
  int count = 0;
  for (; tables.executeStep(); ++count) {
    const auto line = fmt::format("\n| `{}` | ", tables.getColumn(0).getString());
    EXPECT_NE(readme.find(line), std::string::npos) << line;
  }
  EXPECT_GE(count, 8);
}

TEST_F(Schema, ANewerDatabaseIsRefusedWithASentenceAndLeftAlone) {
  ASSERT_TRUE(Store::open(path(), Store::Mode::read_write));
  {
    SQLite::Database database(path(), SQLite::OPEN_READWRITE);
    database.exec("INSERT INTO migrations (version, program) VALUES (99, 'later')");
  }
  for (const auto mode : {Store::Mode::read_write, Store::Mode::read_only}) {
    const auto opened = Store::open(path(), mode);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("schema 99"), std::string::npos) << opened.error().message;
    EXPECT_NE(opened.error().message.find(path()), std::string::npos);
  }
}

TEST_F(Schema, AnotherProgramsDatabaseIsRefused) {
  {
    SQLite::Database database(path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("CREATE TABLE bookmarks (url TEXT)");
  }
  const auto opened = Store::open(path(), Store::Mode::read_write);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("not made by hyfreedp"), std::string::npos) << opened.error().message;
}

TEST_F(Schema, AFileThatIsNoDatabaseIsRefused) {
  std::ofstream(path()) << "this is not a database, and long enough not to look like an empty one. "
                        << std::string(200, 'x');
  for (const auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const auto opened = Store::open(path(), mode);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find(path() + " is not an SQLite database: it is damaged"),
              std::string::npos)
        << opened.error().message;
  }
  const auto folder =
      Store::open(std::filesystem::path(path()).parent_path().string(), Store::Mode::read_only);
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("is a folder"), std::string::npos) << folder.error().message;
}

// The file may be the only record of what a private selection released.
TEST_F(Schema, AValueThatCannotBeReadIsNoReasonToDeleteTheFile) {
  {
    const auto store = Store::open(path(), Store::Mode::read_write).value();
    ASSERT_TRUE(store->put_spec(small::spec()));
    ASSERT_TRUE(store->put_study(small::study("a", "prodigy", 1.0, 0)));
  }
  SQLite::Database(path(), SQLite::OPEN_READWRITE).exec("UPDATE studies SET composition = '{'");
  const auto store = Store::open(path(), Store::Mode::read_only).value();
  const auto studies = store->studies(small::spec().name);
  ASSERT_FALSE(studies);
  const auto& message = studies.error().message;
  EXPECT_NE(message.find("Put back a copy"), std::string::npos) << message;
  for (const char* advice : {"elete", "emove"}) EXPECT_EQ(message.find(advice), std::string::npos) << message;
}

TEST_F(Schema, ReadingWhatDoesNotExistSaysWhatMakesIt) {
  const auto opened = Store::open(path(), Store::Mode::read_only);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("hyfreedp run"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// Without what the events of schema 4 and before do not have: they were made before one named its
// split.
std::string rows_of(const Store& store, const ExportOptions& options) {
  auto rows = export_rows(store, "small", options);
  EXPECT_TRUE(rows) << rows.error().message;
  const std::string split = R"("split":"private_train",)";
  for (auto at = rows->find(split); at != std::string::npos; at = rows->find(split, at)) {
    rows->erase(at, split.size());
  }
  return *rows;
}

std::string fresh_rows(const ExportOptions& options) {
  auto fresh = Store::in_memory();
  EXPECT_TRUE(fresh && small::fill(**fresh, {"stuck at d0"}));
  return rows_of(**fresh, options);
}

// A database of every released schema reads as the same rows, for reading as it is and for writing
// after migration.
TEST_F(Schema, DatabasesOfReleasedVersionsReadTheSame) {
  const ExportOptions all{.times = true, .confidential = true};
  const auto expected = fresh_rows(all);
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HYFREEDP_TEST_DATA "/results")) {
    if (entry.path().extension() != ".sqlite") continue;
    ++cases;
    const auto copy = (folder_ / entry.path().filename()).string();
    std::filesystem::copy_file(entry.path(), copy);
    const auto opened = Store::open(copy, Store::Mode::read_write);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(rows_of(**opened, all), expected) << entry.path();
    SQLite::Database database(copy, SQLite::OPEN_READONLY);
    EXPECT_EQ(database.execAndGet("SELECT count(*) || ' ' || count(run) FROM cells").getString(), "15 11")
        << entry.path();
  }
  EXPECT_EQ(cases, kSchemaVersion);
}

// The reference of a night was kept by an older program, and is only read.
TEST_F(Schema, AnOlderDatabaseIsReadAsItIs) {
  for (const char* name : {"schema1.sqlite", "schema2.sqlite"}) {
    std::filesystem::copy_file(std::string(HYFREEDP_TEST_DATA "/results/") + name, path());
    const auto bytes = read_file(path()).value();
    const auto opened = Store::open(path(), Store::Mode::read_only);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(rows_of(**opened, {}), fresh_rows({}));
    EXPECT_EQ(read_file(path()).value(), bytes);
    std::filesystem::remove(path());
  }
}

}  // namespace schema_test
}  // namespace hyfreedp::results
