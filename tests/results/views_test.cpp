// The views for people: that they show what tables show, and nothing that a private selection
// hides; and that the page about them, results/VIEWS.md, is true.
#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <optional>
#include <set>

#include "harness/base/files.h"
#include "harness/base/program.h"
#include "harness/base/text.h"
#include "results/store/records.h"
#include "results/store/states.h"
#include "results/store/store.h"
#include "results/table/table_model.h"
#include "tests/results/small_database.h"

namespace hyfreedp::results {
namespace views_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr std::array kViews = {"cells",      "epsilon",    "runs",       "run_metrics",
                               "run_events", "run_system", "study_notes"};

// A row's values joined by " | ", as the page shows them; one line a row.
std::string rows_of(SQLite::Database& database, const std::string& query) {
  std::string text;
  SQLite::Statement select(database, query);
  while (select.executeStep()) {
    std::vector<std::string> fields;
    for (int i = 0; i < select.getColumnCount(); ++i) {
      fields.push_back(select.getColumn(i).isNull() ? "NULL" : select.getColumn(i).getString());
    }
    text += join(fields, " | ") + "\n";
  }
  return text;
}

class Views : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("hyfreedp-views-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "out");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path() const { return (folder_ / "out/hyfreedp.sqlite").string(); }
  std::unique_ptr<Store> store() const { return Store::open(path(), Store::Mode::read_write).value(); }
  std::string rows(const std::string& query) const {
    SQLite::Database database(path(), SQLite::OPEN_READONLY);
    return rows_of(database, query);
  }

  fs::path folder_;
};

TEST_F(Views, OfAPrivateSelectionTheyShowTheReportedRunAlone) {
  ASSERT_TRUE(small::fill(*store()));
  ASSERT_TRUE(store()->put_note({.study = "study-c-1-0", .note = "n", .tags = {}}));
  for (const char* view : kViews) {
    const auto all = rows(fmt::format("SELECT * FROM {}", view));
    EXPECT_THAT(all, HasSubstr("small")) << view;
    EXPECT_THAT(all, Not(HasSubstr(small::kPlantedDigits))) << view;
    EXPECT_THAT(all, Not(HasSubstr("confidential"))) << view;
    // The last digits number the runs of a study; run 0 is the reported one.
    for (int seed = 0; seed < 3; ++seed) {
      for (int run = 1; run < 3 + seed; ++run) {
        EXPECT_THAT(all, Not(HasSubstr(fmt::format("trial-study-c-1-{}-{}", seed, run)))) << view;
      }
    }
  }
  EXPECT_EQ(rows("SELECT count(*), sum(reported), group_concat(DISTINCT run) FROM runs WHERE row = 'c' AND "
                 "seed = 2"),
            "1 | 1 | trial-study-c-1-2-0\n");
  EXPECT_EQ(rows("SELECT seconds FROM cells WHERE row = 'c' ORDER BY seed"), "0.5\n0.5\n0.5\n")
      << "the time of all runs would tell how many there were";
  EXPECT_EQ(rows("SELECT count(*) FROM run_events WHERE row = 'c'"), "3\n");
  EXPECT_EQ(rows("SELECT count(*) FROM run_metrics WHERE row = 'c'"), "12\n") << "four metrics of each";
  EXPECT_EQ(rows("SELECT count(*) FROM run_system WHERE row = 'c'"), "0\n")
      << "the memory of its worker tells of the runs before";
  EXPECT_EQ(
      rows("SELECT seconds, cpu_share, resident_bytes, device_bytes FROM run_system WHERE row = 'b' AND "
           "seed = 2"),
      "0.25 | 0.75 | 201326592 | NULL\n0.5 | 1.0 | 201326592 | NULL\n")
      << "150 and 160 MB, in steps of 64 MiB";
}

TEST_F(Views, ShowTheRunsOfRowsWhoseNumberOfRunsIsPublic) {
  const auto writer = store();
  ASSERT_TRUE(writer->put_spec(small::spec()));
  int seed = 0;
  using Rule = trial::Composition::Rule;
  const std::vector<std::pair<std::optional<Rule>, bool>> rules = {
      {Rule::none, true}, {Rule::trial, true}, {Rule::sum, true}, {Rule::selection, false}, {{}, false}};
  for (const auto& [rule, is_public] : rules) {
    SCOPED_TRACE(rule ? name_of(*rule) : "no rule");
    for (const auto state : {StudyState::open, StudyState::failed, StudyState::concluded}) {
      auto study = small::study("a", "prodigy", 1.0, seed++);
      study.state = state;
      study.composition.rule = rule;
      ASSERT_EQ(study.composition.shows_run_count(), is_public);
      study.seconds = 7;
      for (int run = 0; run < 3; ++run) {
        study.trials.push_back(fmt::format("{}-{}", study.id, run));
        ASSERT_TRUE(writer->put_trial(small::trial(study.trials.back()), {}, small::metrics(0.8)));
        ASSERT_TRUE(writer->put_system(study.trials.back(), {{.seconds = 1}}));
      }
      if (state == StudyState::concluded) study.reported_trial = study.trials[1];
      ASSERT_TRUE(writer->put_study(study));
      std::set<std::string> expected;
      if (is_public) expected.insert(study.trials.begin(), study.trials.end());
      if (!study.reported_trial.empty()) expected.insert(study.reported_trial);
      std::string listed;
      for (const auto& id : expected) listed += id + "\n";
      for (const char* view : {"runs", "run_metrics", "run_events"}) {
        EXPECT_EQ(
            rows(fmt::format("SELECT DISTINCT run FROM {} WHERE seed = {} ORDER BY run", view, study.seed)),
            listed)
            << view << ' ' << name_of(state);
      }
      EXPECT_EQ(
          rows(fmt::format("SELECT DISTINCT run FROM run_system WHERE seed = {} ORDER BY run", study.seed)),
          is_public ? listed : "")
          << name_of(state);
      const auto seconds = is_public ? "7.0\n" : study.reported_trial.empty() ? "NULL\n" : "0.5\n";
      EXPECT_EQ(rows(fmt::format("SELECT seconds FROM cells WHERE seed = {}", study.seed)), seconds)
          << name_of(state);
    }
  }
}

TEST_F(Views, CellsAreTheTablesValues) {
  ASSERT_TRUE(small::fill(*store()));
  EXPECT_EQ(
      rows("SELECT seed, state, round(test_accuracy_percent, 9), test_loss, epsilon_spent, epsilon_claimed, "
           "flags, failure_kind, run FROM cells WHERE row = 'b' AND epsilon_target = 1 ORDER BY seed"),
      "0 | concluded | 70.0 | 1.25 | 1.2 | 1.0 | paper accounting: epsilon understated |  | "
      "trial-study-b-1-0-0\n"
      "1 | failed | NULL | NULL | NULL | NULL | NULL | diverged | NULL\n"
      "2 | concluded | 72.0 | 1.25 | 1.3 | 1.0 | paper accounting: epsilon understated |  | "
      "trial-study-b-1-2-0\n");
  EXPECT_EQ(rows("SELECT count(*), count(epsilon_target), count(epsilon_spent) FROM cells WHERE row = 'a'"),
            "6 | 3 | 3\n");
  EXPECT_EQ(
      rows(
          "SELECT DISTINCT purpose, split, sample_rate, batches, noise, noise_multiplier, releases_per_batch "
          "FROM run_events"),
      "NULL | private_train | 0.1 | 10 | gaussian | 1.5 | 1\n");
}

// A cancelled study has no value, even where one of its runs came to its end, and its cost stays.
TEST_F(Views, ACancelledStudyHasItsCostAndNoValue) {
  {
    const auto writer = store();
    ASSERT_TRUE(writer->put_spec(small::spec()));
    for (int seed = 0; seed < 3; ++seed) {
      auto study = small::study("a", "linear-scaling", 1.0, seed);
      study.state = seed == 2 ? StudyState::concluded : StudyState::failed;
      if (seed == 0) study.failure_kind = kCancelledStudy;
      if (seed == 1) study.failure_kind = kNotNeeded;
      study.composition = {.rule =
                               seed == 1 ? trial::Composition::Rule::none : trial::Composition::Rule::sum};
      study.seconds = 1.5 * seed;
      if (seed != 1) {
        study.trials = {study.id + "-0"};
        ASSERT_TRUE(writer->put_trial(small::trial(study.trials.front()), {}, small::metrics(0.8)));
        study.total = small::spent(1.25, "pld");
      }
      if (seed == 2) study.training = small::spent(0.75, "pld");
      if (seed != 1) study.reported_trial = study.trials.front();
      ASSERT_TRUE(writer->put_study(study));
    }
  }
  EXPECT_EQ(rows("SELECT seed, state, failure_kind, round(test_accuracy_percent, 9), epsilon_spent, seconds, "
                 "run FROM cells ORDER BY seed"),
            "0 | failed | cancelled | NULL | 1.25 | 0.0 | NULL\n"
            "1 | failed | not-needed | NULL | NULL | 1.5 | NULL\n"
            "2 | concluded |  | 80.0 | 1.25 | 3.0 | study-a-1-2-0\n");
  EXPECT_EQ(rows("SELECT seed, training, tuning, total, composition FROM epsilon ORDER BY seed"),
            "0 | NULL | NULL | 1.25 | sum\n2 | 0.75 | 0.5 | 1.25 | sum\n");
}

TEST_F(Views, NotesAreOfStudiesThatAreThere) {
  const auto writer = store();
  ASSERT_TRUE(small::fill(*writer));
  auto study = small::study("a", "prodigy", 1.0, 7);
  ASSERT_TRUE(writer->put_study(study));
  ASSERT_TRUE(writer->put_note({.study = study.id, .note = "the first", .tags = {}}));
  ASSERT_TRUE(writer->put_note({.study = study.id, .note = "", .tags = {"good", "draft"}}));
  ASSERT_TRUE(writer->put_note({.study = "gone", .note = "of a study that was replaced", .tags = {"x"}}));
  const std::string all = "SELECT row, seed, note, tags FROM study_notes";
  EXPECT_EQ(rows(all), "a | 7 | NULL | draft good\n");
  // A study's row is replaced whenever its state is written.
  study.state = StudyState::failed;
  study.failure_kind = "killed";
  ASSERT_TRUE(writer->put_study(study));
  EXPECT_EQ(rows(all), "a | 7 | NULL | draft good\n");
  EXPECT_EQ(writer->notes().value().at(study.id), (StudyNote{study.id, "", {"draft", "good"}}));
  ASSERT_TRUE(writer->put_note({.study = study.id, .note = "", .tags = {}}));
  EXPECT_EQ(rows(all), "");
}

TEST_F(Views, EpsilonIsSplitIntoTrainingAndTuning) {
  {
    const auto writer = store();
    ASSERT_TRUE(writer->put_spec(small::spec()));
    auto study = small::study("a", "linear-scaling", 1.0, 0);
    study.composition = {.rule = trial::Composition::Rule::sum};
    study.total = small::spent(1.0, "pld");
    study.training = small::spent(0.75, "pld");
    ASSERT_TRUE(writer->put_study(study));
    study = small::study("a", "linear-scaling", 1.0, 1);
    study.composition = {.rule = trial::Composition::Rule::sum};
    study.total = small::spent(std::numeric_limits<double>::infinity(), "rdp");
    ASSERT_TRUE(writer->put_study(study));
    ASSERT_TRUE(writer->put_study(small::study("a", "linear-scaling", std::nullopt, 2)));
  }
  EXPECT_EQ(rows("SELECT seed, training, tuning, total, accountant, composition FROM epsilon ORDER BY seed"),
            "0 | 0.75 | 0.25 | 1.0 | pld | sum\n1 | NULL | NULL | Inf | rdp | sum\n");
}

TEST_F(Views, AReaderDoesNotBlockTheWriterNorTheWriterAReader) {
  const auto writer = store();
  ASSERT_TRUE(small::fill(*writer));
  SQLite::Database reader(path(), SQLite::OPEN_READONLY, 0);
  SQLite::Statement select(reader, "SELECT * FROM run_metrics");
  ASSERT_TRUE(select.executeStep());  // it stays within its transaction
  EXPECT_TRUE(writer->put_trial(small::trial("more"), small::steps(), small::metrics(0.5)));
  int count = 1;
  while (select.executeStep()) ++count;
  EXPECT_EQ(count, 4 * (3 + 3 + 2 + 3)) << "what was there when the reader began";
}

// A block of a page, and the output that the page shows after it, if it does.
struct Example {
  std::string language, code;
  std::optional<std::string> output;
};

std::vector<Example> examples(const std::string& name = "VIEWS.md") {
  const auto page = read_file(HYFREEDP_SOURCE_DIR "/results/" + name).value();
  std::vector<Example> found;
  for (std::size_t at = page.find("\n```"); at != std::string::npos; at = page.find("\n```", at)) {
    const auto line_end = page.find('\n', at + 1);
    const auto end = page.find("\n```", line_end - 1);
    const auto language = page.substr(at + 4, line_end - at - 4);
    auto code = page.substr(line_end + 1, end - line_end);
    if (language == "text") {
      found.back().output = std::move(code);
    } else {
      found.push_back({language, std::move(code), {}});
    }
    at = end + 4;
  }
  return found;
}

class ViewsPage : public Views {
 protected:
  // The database of the project's first table.
  void SetUp() override {
    Views::SetUp();
    fs::copy_file(HYFREEDP_SOURCE_DIR "/results/archive/quick/slice.sqlite", path());
    fs::permissions(path(), fs::perms::owner_write, fs::perm_options::add);
    ASSERT_TRUE(Store::open(path(), Store::Mode::read_write));
  }

  // What the shell command prints; nothing if it fails. Its errors go to the test's output.
  std::optional<std::string> shell(const std::string& command) const {
    std::FILE* pipe = ::popen(fmt::format("cd '{}' && {}", folder_.string(), command).c_str(), "r");
    if (pipe == nullptr) return std::nullopt;
    std::string text;
    std::array<char, 4096> buffer{};
    while (const auto bytes = std::fread(buffer.data(), 1, buffer.size(), pipe))
      text.append(buffer.data(), bytes);
    return ::pclose(pipe) == 0 ? std::optional(text) : std::nullopt;
  }

  // A Python that can import these; empty: there is none. Debian's packages are for its own Python,
  // which need not be the first in the path.
  std::string python_with(const std::string& modules) const {
    for (const std::string python : {"python3", "/usr/bin/python3"}) {
      if (shell(fmt::format("{} -c 'import {}' 2> import.log", python, modules))) return python;
    }
    return "";
  }

  // Runs the page's examples in Python that import `module`; with none, those that import SQLite
  // alone.
  ::testing::AssertionResult gives_what_it_shows(const std::string& python, const std::string& module) {
    int count = 0;
    for (const auto& example : examples()) {
      const bool wants = example.language == "python" &&
                         (module.empty() ? example.code.find(" as p") == std::string::npos
                                         : example.code.find("import " + module) != std::string::npos);
      if (!wants) continue;
      ++count;
      std::ofstream((folder_ / "example.py").string()) << example.code;
      const auto printed = shell(python + " example.py");
      if (!printed || printed->empty())
        return ::testing::AssertionFailure() << "fails or prints nothing:\n" << example.code;
      if (example.output && *printed != *example.output)
        return ::testing::AssertionFailure() << "prints\n" << *printed << "for\n" << example.code;
    }
    if (count == 0) return ::testing::AssertionFailure() << "the page has no such example";
    return ::testing::AssertionSuccess();
  }
};

TEST_F(ViewsPage, SaysOfEveryViewWhatItHas) {
  const auto page = read_file(HYFREEDP_SOURCE_DIR "/results/VIEWS.md").value();
  SQLite::Database database(path(), SQLite::OPEN_READONLY);
  std::set<std::string> views;
  SQLite::Statement select(database, "SELECT name FROM sqlite_master WHERE type = 'view'");
  while (select.executeStep()) views.insert(select.getColumn(0).getString());
  EXPECT_EQ(views, std::set<std::string>(kViews.begin(), kViews.end()));
  for (const auto& view : views) {
    const auto begin = page.find(fmt::format("\n| `{}` |", view));
    ASSERT_NE(begin, std::string::npos) << view;
    const auto line = page.substr(begin, page.find('\n', begin + 1) - begin);
    SQLite::Statement columns(database, fmt::format("SELECT name FROM pragma_table_info('{}')", view));
    while (columns.executeStep()) {
      const auto column = fmt::format("`{}`", columns.getColumn(0).getString());
      const bool is_shared = page.find(column) < page.find("\n| view |");
      EXPECT_TRUE(is_shared || line.find(column) != std::string::npos) << view << ' ' << column;
    }
  }
}

TEST_F(ViewsPage, ItsSqlGivesWhatItShows) {
  SQLite::Database database(path(), SQLite::OPEN_READONLY);
  int count = 0;
  for (const auto& example : examples()) {
    if (example.language != "sql") continue;
    ++count;
    const auto printed = rows_of(database, example.code);
    EXPECT_NE(printed, "") << example.code;
    if (example.output) {
      EXPECT_EQ(printed, *example.output) << example.code;
    }
  }
  EXPECT_GE(count, 5);
}

TEST_F(ViewsPage, ItsSqlRunsInTheProgramSqlite3) {
  if (!find_program("sqlite3")) GTEST_SKIP() << "sqlite3 is not installed. Debian: apt-get install sqlite3";
  for (const auto& example : examples()) {
    if (example.language != "sql") continue;
    std::ofstream((folder_ / "example.sql").string()) << example.code;
    const auto printed = shell("sqlite3 -readonly -separator ' | ' out/hyfreedp.sqlite < example.sql");
    ASSERT_TRUE(printed) << example.code;
    EXPECT_NE(*printed, "") << example.code;
    if (example.output) {
      EXPECT_EQ(*printed, *example.output) << example.code;
    }
  }
}

TEST_F(ViewsPage, ItsPythonRuns) {
  const auto python = python_with("sqlite3");
  if (python.empty()) GTEST_SKIP() << "python3 is not installed. Debian: apt-get install python3";
  EXPECT_TRUE(gives_what_it_shows(python, ""));
}

TEST_F(ViewsPage, ItsPandasRuns) {
  const auto python = python_with("pandas");
  if (python.empty()) GTEST_SKIP() << "pandas is not installed. Debian: apt-get install python3-pandas";
  EXPECT_TRUE(gives_what_it_shows(python, "pandas"));
}

TEST_F(ViewsPage, TheReadmesFiveLinesDrawAPlot) {
  const auto all = examples("../README.md");
  const auto plot = std::ranges::find_if(
      all, [](const Example& example) { return example.code.find("savefig") != std::string::npos; });
  ASSERT_NE(plot, all.end());
  EXPECT_EQ(std::ranges::count(plot->code, '\n'), 5);
  const auto python = python_with("pandas, matplotlib");
  if (python.empty()) {
    GTEST_SKIP() << "pandas or matplotlib is not installed. Debian: apt-get install python3-pandas "
                    "python3-matplotlib";
  }
  std::ofstream((folder_ / "plot.py").string()) << plot->code;
  ASSERT_TRUE(shell("MPLBACKEND=Agg MPLCONFIGDIR=. " + python + " plot.py")) << plot->code;
  const auto picture = read_file((folder_ / "accuracy.png").string());
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->substr(1, 3), "PNG");
}

TEST_F(ViewsPage, ItsPolarsRuns) {
  const auto python = python_with("polars");
  if (python.empty())
    GTEST_SKIP() << "polars is not installed. Debian has no package of it: pip install polars";
  EXPECT_TRUE(gives_what_it_shows(python, "polars"));
}

}  // namespace views_test
}  // namespace hyfreedp::results
