// Every table that is frozen in results/archive is as it was, and follows from its slice of the
// database.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "harness/base/json.h"
#include "harness/base/version.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace archives_test {

class Archives : public Program {};

TEST_F(Archives, AllAreAsTheyWereFrozen) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(HYFREEDP_SOURCE_DIR) / "results/archive")) {
    if (!entry.is_directory()) continue;
    const auto ended = run({"archive", "--check", entry.path().string()});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    ++count;
  }
  EXPECT_GT(count, 0U);
}

// Rows of different comparability versions are not to be compared (harness/base/version.h): what
// the README shows must be what this program does.
TEST_F(Archives, EachIsOfThisComparabilityVersion) {
  const auto mine = fmt::format("(comparability {}", kComparabilityVersion);
  for (const auto& entry : fs::directory_iterator(fs::path(HYFREEDP_SOURCE_DIR) / "results/archive")) {
    if (!entry.is_directory()) continue;
    const auto provenance = read_json_file((entry.path() / "provenance.json").string());
    ASSERT_TRUE(provenance) << provenance.error().message;
    for (const char* by : {"ran_by", "archived_by"}) {
      const auto version = string_or(provenance->as_object(), by, "");
      const auto at = version.find(mine);
      const bool agrees = at != std::string::npos &&
                          std::string(",)").find(version.substr(at + mine.size(), 1)) != std::string::npos;
      EXPECT_TRUE(agrees) << entry.path() << " was made by " << version
                          << " and this program has comparability " << kComparabilityVersion
                          << ". Remove the folder, run its spec.yaml anew and archive it: "
                          << "hyfreedp archive " << entry.path().filename().string();
    }
  }
}

// Its own slice answers trace, export-cell and verify.
TEST_F(Archives, TheSliceOfQuickIsADatabase) {
  fs::create_directories(folder_ / "out");
  fs::copy_file(fs::path(HYFREEDP_SOURCE_DIR) / "results/archive/quick/slice.sqlite",
                folder_ / "out/hyfreedp.sqlite");
  for (const char* row : {"prodigy", "dp-hyper", "nondp-gs"}) {
    ASSERT_EQ(run({"export-cell", "quick", row, "3", "--output", "cell.json"}).code, 0) << row;
    EXPECT_EQ(run({"verify", "cell.json"}).code, 0) << row;
    EXPECT_EQ(run({"trace", "quick", row, "3"}).code, 0) << row;
  }
}

constexpr const char* kSequential = R"(name: seq
title: As many seeds as it needs
noise_seed: seq-1
dataset: {name: synthetic, train: 2000}
model: linear
epsilon: [1, 8]
seeds: {until: paired interval of a - b is narrower than 0.5 or excludes 0, from: 4, to: 12}
train: {sample_rate: 0.05, steps: 20, optimizer: adamw}
rows:
  - {id: a, method: fixed-rate, options: {lr: 0.1}}
  - {id: b, method: fixed-rate, options: {lr: 0.0001}}
)";

// With its rule, looks and stops, which follow from the slice: without a seed it is another table.
TEST_F(Archives, AComparisonWithAsManySeedsAsItNeedsFollowsFromItsSlice) {
  const auto spec = write("seq.yaml", kSequential);
  ASSERT_EQ(run({"run", spec, "--quiet"}).code, 0);
  EXPECT_THAT(run({"status"}).out, ::testing::ContainsRegex("0 open, 0 failed, [1-9][0-9]* not needed"));
  ASSERT_EQ(run({"archive", "seq", "--to", "frozen"}).code, 0);
  EXPECT_EQ(run({"archive", "--check", "frozen/seq"}).code, 0);
  const auto table = read_file((folder_ / "frozen/seq/table.md").string()).value();
  EXPECT_THAT(table, ::testing::ContainsRegex("stopped after [4-9] of 12 seeds"));
  ASSERT_EQ(run({"export-cell", "seq", "a", "8", "--output", "cell.json"}).code, 0);
  EXPECT_EQ(run({"verify", "cell.json"}).code, 0);

  fs::permissions(folder_ / "frozen/seq", fs::perms::owner_all);
  const auto slice = folder_ / "frozen/seq/slice.sqlite";
  const auto sums = folder_ / "frozen/seq/SHA256SUMS";
  for (const auto& file : {slice, sums}) fs::permissions(file, fs::perms::owner_all);
  const auto before = sha256_of_file(slice.string()).value();
  SQLite::Database(slice.string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM studies WHERE row = 'b' AND epsilon_target = 8 AND seed = 3");
  auto listed = read_file(sums.string()).value();
  listed.replace(listed.find(before), before.size(), sha256_of_file(slice.string()).value());
  ASSERT_TRUE(write_file_atomically(sums.string(), listed));
  const auto checked = run({"archive", "--check", "frozen/seq"});
  EXPECT_EQ(checked.code, 1) << checked.out << checked.err;
  EXPECT_THAT(checked.out + checked.err, ::testing::HasSubstr("table.md"));
}

// Two machines have a column each; what neither was to train is not open afterwards.
TEST_F(Archives, ColumnsOfSuchAComparisonAreMerged) {
  const auto spec = write("seq.yaml", kSequential);
  ASSERT_EQ(run({"run", spec, "--quiet"}).code, 0);
  ASSERT_EQ(run({"run", spec, "--quiet", "--only", "epsilon=1", "--out", "one"}).code, 0);
  ASSERT_EQ(run({"run", spec, "--quiet", "--only", "epsilon=8", "--out", "two"}).code, 0);
  const auto merged = run({"merge", "one", "two", "--out", "both"});
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(rows("seq", "both"), rows("seq"));
  const auto again = run({"run", spec, "--quiet", "--out", "both"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, ::testing::HasSubstr("48 studies of 4 cells, 48 known before"));
  EXPECT_EQ(run({"odometer", "--out", "both"}).out, run({"odometer"}).out);

  // Of a machine that stopped at another place, nothing is taken.
  SQLite::Database((folder_ / "one/hyfreedp.sqlite").string(), SQLite::OPEN_READWRITE)
      .exec(
          "UPDATE studies SET failure_kind = 'not-needed', state = 'failed', reported_trial = '' "
          "WHERE row = 'a' AND epsilon_target = 1 AND seed = 3");
  const auto refused = run({"merge", "one", "--out", "both"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, ::testing::HasSubstr("seed 3"));
}

}  // namespace archives_test
}  // namespace hyfreedp::end_to_end
