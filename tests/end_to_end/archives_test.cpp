// Every table that is frozen in results/archive is as it was, and follows from its slice of the
// database.
#include <fmt/format.h>

#include "harness/base/json.h"
#include "harness/base/version.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace {

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

}  // namespace
}  // namespace hyfreedp::end_to_end
