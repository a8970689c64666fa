// The papers' specs at the scale of seconds, through the real binaries.
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"
#include "tests/end_to_end/paper_files.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace paper_smoke_test {

class SlowPaperSmoke : public Program {};

TEST_F(SlowPaperSmoke, RunnableOnesGiveTheirTables) {
  std::vector<std::string> arguments{"run", "", "--preset", "smoke", "--quiet", "--workers", "1"};
  const auto files = files_with("smoke");
  EXPECT_GE(files.size(), 14U);
  for (const auto& file : files_with_every_part(files, "smoke")) {
    const auto spec = runner::load_spec(file, "smoke");
    ASSERT_TRUE(spec) << spec.error().message;
    arguments[1] = file;
    const auto ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << file << '\n' << ended.out << ended.err;
    const auto name = spec->content.name;
    for (const char* made : {"table.md", "table.csv", "table.tex", "table.html", "report.html"}) {
      EXPECT_TRUE(fs::exists(folder_ / "out" / name / made)) << file << ' ' << made;
    }
    const auto store =
        results::Store::open((folder_ / "out/hyfreedp.sqlite").string(), results::Store::Mode::read_only);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_FALSE((**store).studies(name).value().empty()) << file;
    EXPECT_EQ(failed_cells(**store, name), "") << file;
  }
}

}  // namespace paper_smoke_test
}  // namespace hyfreedp::end_to_end
