// The papers' specs at the scale of seconds, through the real binaries.
#include <set>

#include "harness/runner/spec/plan.h"
#include "results/store/store.h"
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace {

// "row, epsilon: kind: message" of the cells without a value. A private selection may draw no run.
std::string failed_cells(const results::Store& store, const std::string& spec) {
  std::string failed;
  for (const auto& study : store.studies(spec).value()) {
    if (study.state == results::StudyState::concluded || study.failure_kind == "no-run-drawn") continue;
    failed += study.row + ": " + study.failure_kind + ": " + study.failure_message + "\n";
  }
  return failed;
}

class PaperSmoke : public Program {};

TEST_F(PaperSmoke, EveryRunnableOneGivesItsTable) {
  std::size_t ran = 0;
  std::vector<std::string> arguments{"run", "", "--preset", "smoke", "--quiet", "--workers", "1"};
  std::set<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(HYFREEDP_SOURCE_DIR "/experiments/papers")) {
    if (file.path().extension() == ".yaml") files.insert(file.path());
  }
  for (const auto& file : files) {
    const auto presets = runner::presets_of(file.string());
    ASSERT_TRUE(presets) << presets.error().message;
    if (std::find(presets->begin(), presets->end(), "smoke") == presets->end()) continue;
    const auto spec = runner::load_spec(file.string(), "smoke");
    ASSERT_TRUE(spec) << spec.error().message;
    if (!runner::is_runnable(*spec)) continue;
    arguments[1] = file.string();
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
    ++ran;
  }
  EXPECT_GE(ran, 14u);
}

}  // namespace
}  // namespace hyfreedp::end_to_end
