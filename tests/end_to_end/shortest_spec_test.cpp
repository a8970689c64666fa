// The shortest spec that experiments/README.md shows, and the one that `hyfreedp new spec` writes,
// run as they are.
#include "tests/end_to_end/program.h"

namespace hyfreedp::end_to_end {
namespace shortest_spec_test {

using ::testing::HasSubstr;

// The first YAML block after the heading.
std::string shown_in_readme() {
  const auto text = read_file(std::string(HYFREEDP_SOURCE_DIR) + "/experiments/README.md").value();
  const std::string opening = "```yaml\n";
  const auto at = text.find(opening, text.find("## The shortest spec"));
  if (at == std::string::npos) return "";
  const auto begin = at + opening.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

using ShortestSpec = Program;

TEST_F(ShortestSpec, OfTheReadmeRunsInTwelveLines) {
  const auto yaml = shown_in_readme();
  EXPECT_EQ(std::count(yaml.begin(), yaml.end(), '\n'), 12) << yaml;
  const auto ended = run({"run", write("my-first.yaml", yaml)});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Prodigy"));
  EXPECT_THAT(ended.out, HasSubstr("HyFreeDP+"));
  EXPECT_THAT(ended.out, HasSubstr("18 studies of 6 cells, 0 known before"));
  EXPECT_TRUE(fs::exists(folder_ / "out/my-first/report.html"));
}

TEST_F(ShortestSpec, OfTheProgramRuns) {
  ASSERT_EQ(run({"new", "spec", "mine"}).code, 0);
  const auto ended = run({"run", "mine.yaml", "--quiet"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("NonDP-GS"));
}

}  // namespace shortest_spec_test
}  // namespace hyfreedp::end_to_end
