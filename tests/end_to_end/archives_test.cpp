// Every table that is frozen in results/archive is as it was, and follows from its slice of the
// database.
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
