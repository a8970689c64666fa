// Archives: what is in them, what is refused, and that a change is found.
#include <fmt/format.h>
#include <sys/stat.h>

#include "harness/cli/common/outputs.h"
#include "harness/cli/show/archive.h"
#include "plots/gnuplot.h"
#include "results/provenance/slice.h"
#include "tests/cli/command_fixture.h"
#include "tests/results/small_database.h"

namespace hyfreedp::cli {
namespace archive_command_test {

namespace fs = std::filesystem;

class Archive : public CommandTest {
 protected:
  Archive() : CommandTest("archive") {}

  void SetUp() override {
    CommandTest::SetUp();
    if (!find_program("gnuplot")) GTEST_SKIP() << plots::kNoGnuplot;
    auto store = *results::Store::open(path("out/hyfreedp.sqlite"), results::Store::Mode::read_write);
    ASSERT_TRUE(small::fill(*store));
  }

  std::vector<std::string> with_places(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--out", path("out"), "--to", path("archive")});
    return arguments;
  }
  void freeze() { ASSERT_EQ(run(with_places({"small", "--name", "first"})), 0) << err(); }
  int check() { return run({"--check", path("archive/first")}); }
  // The file's content, writable again.
  std::string content(const std::string& name) const {
    return read_file(path("archive/first/" + name)).value();
  }
  void replace(const std::string& name, const std::string& text) const {
    fs::remove(path("archive/first/" + name));
    ASSERT_TRUE((std::ofstream(path("archive/first/" + name), std::ios::binary) << text).flush());
  }
  void seal() const {  // as whoever forges an archive would
    std::string sums;
    for (const auto& entry : fs::directory_iterator(path("archive/first"))) {
      const auto name = entry.path().filename().string();
      if (name != "SHA256SUMS") sums += sha256_hex(content(name)) + "  " + name + "\n";
    }
    replace("SHA256SUMS", sums);
  }
  // A slice changed in place.
  void change_slice(const std::function<void(results::Store&)>& change) const {
    const auto slice = path("archive/first/slice.sqlite");
    ::chmod(slice.c_str(), 0600);
    {
      auto store = *results::Store::open(slice, results::Store::Mode::read_write);
      change(*store);
    }
    for (const char* side : {"-wal", "-shm"}) fs::remove(slice + side);
    seal();
  }
};

TEST_F(Archive, HoldsEverythingReadOnly) {
  freeze();
  EXPECT_NE(out().find("slice.sqlite"), std::string::npos) << out();
  for (const char* name : {"table.md", "table.csv", "accuracy.svg", "spec.yaml", "slice.sqlite",
                           "provenance.json", "README.md", "SHA256SUMS"}) {
    struct stat status {};
    ASSERT_EQ(::stat(path(std::string("archive/first/") + name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 0777, 0444u) << name;
  }
  EXPECT_EQ(content("spec.yaml"), "name: small\n");
  EXPECT_EQ(content("README.md").find("PARTIAL"), std::string::npos);
  EXPECT_EQ(check(), 0) << out() << err();
  EXPECT_NE(out().find("table.md built from the slice is the same"), std::string::npos) << out();
  EXPECT_NE(out().find("as it was frozen"), std::string::npos);
}

TEST_F(Archive, NothingConfidentialIsInIt) {
  freeze();
  const auto slice =
      results::Store::open(path("archive/first/slice.sqlite"), results::Store::Mode::read_only);
  ASSERT_TRUE(slice) << slice.error().message;
  EXPECT_TRUE(results::check_slice(**slice, "small"));
  EXPECT_EQ(results::check_slice(
                **results::Store::open(path("out/hyfreedp.sqlite"), results::Store::Mode::read_only), "small")
                .has_value(),
            false);
  const auto trials = (**slice).trials();
  ASSERT_TRUE(trials);
  EXPECT_EQ(trials->size(), 11u);  // 3 + 3 of a, 2 of b, 3 reported ones of c
  for (const auto& entry : fs::directory_iterator(path("archive/first"))) {
    const auto text = content(entry.path().filename().string());
    EXPECT_EQ(text.find(small::kPlantedDigits), std::string::npos) << entry.path();
    for (const char* losing : {"c-1-0-1", "c-1-1-2", "c-1-2-4"})
      EXPECT_EQ(text.find(losing), std::string::npos) << entry.path();
  }
  const auto study = (**slice).study("study-c-1-0");
  EXPECT_EQ((**study).seconds, 0.5) << "the time of all runs gives away how many there were";
}

TEST_F(Archive, IsNeverOverwritten) {
  freeze();
  const auto before = content("SHA256SUMS");
  expect_refused(with_places({"small", "--name", "first"}), {"never overwritten"});
  EXPECT_EQ(content("SHA256SUMS"), before);
}

TEST_F(Archive, UnfinishedSpecsAreRefusedUnlessPartial) {
  {
    auto store = *results::Store::open(path("out/hyfreedp.sqlite"), results::Store::Mode::read_write);
    auto record = small::spec();
    record.name = "open";
    record.resolved["name"] = "open";
    ASSERT_TRUE(store->put_spec(record));
  }
  expect_refused(with_places({"open"}), {"5 cells of open are not finished", "--partial"});
  EXPECT_FALSE(fs::exists(path("archive/open")));
  ASSERT_EQ(run(with_places({"open", "--partial", "--name", "first"})), 0) << err();
  EXPECT_NE(out().find("PARTIAL"), std::string::npos);
  EXPECT_NE(content("README.md").find("**PARTIAL**: 5 cells"), std::string::npos);
  EXPECT_EQ(check(), 0) << out();
  EXPECT_NE(out().find("5 cells are not finished, as the archive states"), std::string::npos);
}

// A table of losses, of runs that hold no accuracy, which folds its two rows into one. `second`
// says what becomes of the second row's seed 1; every other seed of both is concluded.
using Ending = std::function<void(results::StudyRecord&)>;

void put_folded(results::Store& store, const std::optional<Ending>& second) {
  auto record = small::spec();
  record.name = record.resolved["name"].emplace_string() = "losses";
  record.resolved["table"] = {{"groups", "median"}, {"metric", "loss"}};
  auto& rows = record.resolved["panels"].as_array()[0].as_object()["rows"].as_array();
  rows.resize(2);
  for (auto& row : rows) {
    row.as_object()["group"] = "mine";
    row.as_object()["epsilons"] = json::array{1};
  }
  ASSERT_TRUE(store.put_spec(record));
  for (const std::string row : {"a", "b"}) {
    for (int seed = 0; seed < 3; ++seed) {
      auto study = small::study(row, row == "a" ? "prodigy" : "hyfreedp", 1.0, seed);
      study.id = fmt::format("loss-{}-{}", row, seed);
      study.spec = "losses";
      if (row == "b" && seed == 1) {
        if (!second) continue;
        (*second)(study);
        ASSERT_TRUE(store.put_study(study));
        continue;
      }
      study.trials = {"run-" + study.id};
      study.state = results::StudyState::concluded;
      study.reported_trial = study.trials.front();
      study.label = "end-to-end DP";
      study.composition = {.rule = trial::Composition::Rule::trial, .trials = {study.trials.front()}};
      study.total = study.training = small::spent(1, "pld");
      ASSERT_TRUE(store.put_trial(small::trial(study.reported_trial), small::steps(),
                                  {{10, "test", "loss", 0.5 + seed, trial::Visibility::test}}));
      ASSERT_TRUE(store.put_study(study));
    }
  }
}

const Ending kDiverged = [](results::StudyRecord& study) {
  study.state = results::StudyState::failed;
  study.failure_kind = "diverged";
};

TEST_F(Archive, RowsThatAreFoldedAreFinishedByTheTablesMetric) {
  put_folded(**results::Store::open(path("out/hyfreedp.sqlite"), results::Store::Mode::read_write),
             kDiverged);
  ASSERT_EQ(run(with_places({"losses", "--name", "first"})), 0) << err();
  EXPECT_NE(content("table.md").find("mine, median of 2"), std::string::npos) << content("table.md");
  EXPECT_EQ(check(), 0) << out() << err();
  EXPECT_NE(out().find("every cell is finished"), std::string::npos) << out();
}

// The folded row has a value for each seed, since the other candidate has one; a run that is still
// to come is missing all the same.
TEST_F(Archive, ARowThatWaitsIsUnfinishedThoughItsGroupHasValues) {
  const std::vector<std::optional<Ending>> endings = {
      std::nullopt, [](results::StudyRecord& study) { study.state = results::StudyState::open; },
      [](results::StudyRecord& study) {
        study.state = results::StudyState::failed;
        study.failure_kind = "killed";
      }};
  for (const auto& ending : endings) {
    fs::remove_all(path("out"));
    fs::create_directories(path("out"));
    put_folded(**results::Store::open(path("out/hyfreedp.sqlite"), results::Store::Mode::read_write), ending);
    expect_refused(with_places({"losses"}), {"1 cell of losses is not finished", "--partial"});
  }
  ASSERT_EQ(run(with_places({"losses", "--partial", "--name", "first"})), 0) << err();
  EXPECT_EQ(check(), 0) << out() << err();
  EXPECT_NE(out().find("1 cell is not finished, as the archive states"), std::string::npos) << out();
}

TEST_F(Archive, BadNamesAreRefused) {
  expect_refused(with_places({"small", "--name", "../x"}), {"not a valid name of an archive"});
  expect_refused(with_places({"small", "--name", ".x"}), {"not a valid name of an archive"});
  expect_refused(with_places({"smal"}), {"Did you mean 'small'?"});
  expect_refused({}, {"name a spec"});
  expect_refused({"small", "--check", "x"}, {"cannot be combined"});
  expect_refused({"--check", path("nowhere")}, {"is not an archive"});
  expect_refused(with_places({"small", "--confidential"}), {"there is no option"});
}

TEST_F(Archive, AChangedFileIsFound) {
  freeze();
  for (const char* name :
       {"table.md", "table.csv", "accuracy.svg", "spec.yaml", "provenance.json", "README.md"}) {
    const auto honest = content(name);
    auto changed = honest;
    changed[changed.size() / 2] = changed[changed.size() / 2] == 'x' ? 'y' : 'x';
    replace(name, changed);
    EXPECT_NE(check(), 0) << name;
    replace(name, honest);
    EXPECT_EQ(check(), 0) << name << out();
  }
  replace("more.txt", "x");
  EXPECT_EQ(check(), 1);
  EXPECT_NE(out().find("more.txt: has no checksum"), std::string::npos) << out();
  fs::remove(path("archive/first/more.txt"));
  fs::remove(path("archive/first/accuracy.svg"));
  EXPECT_EQ(check(), 1);
  EXPECT_NE(out().find("accuracy.svg: is missing"), std::string::npos) << out();
  write_file_atomically(path("elsewhere.md"), content("table.md")).value();
  fs::remove(path("archive/first/table.md"));
  fs::create_symlink(path("elsewhere.md"), path("archive/first/table.md"));
  EXPECT_EQ(check(), 1);
  EXPECT_NE(out().find("table.md: is a link, not the file"), std::string::npos) << out();
}

// With new checksums: the tables no longer follow from the slice.
TEST_F(Archive, AForgedTableIsFound) {
  freeze();
  const auto honest = content("table.md");
  auto forged = honest;
  const auto at = forged.find("82.0");
  ASSERT_NE(at, std::string::npos);
  forged.replace(at, 4, "92.0");
  replace("table.md", forged);
  seal();
  EXPECT_EQ(check(), 1);
  EXPECT_NE(out().find("DIFFERENT  table.md built from the slice differs"), std::string::npos) << out();
  EXPECT_NE(out().find("ok         table.csv"), std::string::npos) << out();
}

TEST_F(Archive, AForgedOrIndiscreetSliceIsFound) {
  freeze();
  change_slice([](results::Store& slice) {
    auto run = small::trial("another");
    ASSERT_TRUE(slice.put_trial(run, {}, small::metrics(0.5)));
  });
  EXPECT_EQ(check(), 1);
  EXPECT_NE(out().find("trial another belongs to no row"), std::string::npos) << out();
}

}  // namespace archive_command_test
}  // namespace hyfreedp::cli
