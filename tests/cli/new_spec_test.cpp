// `hyfreedp new spec`: the file loads as it is, and nothing is overwritten.
#include "harness/cli/create/new_spec.h"

#include <gmock/gmock.h>

#include "command_fixture.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::cli {
namespace new_spec_test {

using ::testing::HasSubstr;

class NewSpec : public CommandTest {
 protected:
  NewSpec() : CommandTest("new") {}
  int begin(const std::string& name) { return run({"spec", name, "--folder", folder_.string()}); }
};

TEST_F(NewSpec, WritesOneThatLoadsAndSaysWhatToChange) {
  ASSERT_EQ(begin("my-first"), 0) << err();
  const auto spec = runner::load_spec(path("my-first.yaml"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->content.name, "my-first");
  EXPECT_TRUE(spec->warnings.empty());
  EXPECT_FALSE(runner::plan(*spec).value().empty());
  for (const auto& part : {"To change:", "dataset", "hyfreedp list methods", "--dry-run"}) {
    EXPECT_THAT(out(), HasSubstr(part));
  }
  EXPECT_THAT(out(), HasSubstr("hyfreedp run " + path("my-first.yaml")));
}

// What is commented out is right, too.
TEST_F(NewSpec, ItsCommentedKeysLoad) {
  std::string all;
  std::istringstream lines(spec_text("my-first"));
  for (std::string line; std::getline(lines, line);) {
    const bool is_key = line.starts_with("# delta:") || line.starts_with("# noise_seed:");
    all += (is_key ? line.substr(2) : line) + "\n";
  }
  const auto spec = runner::load_spec(file("all.yaml", all));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->content.noise_seed, "my-first-1");
  EXPECT_EQ(spec->content.panels.at(0).delta, 1e-5);
}

TEST_F(NewSpec, RefusesWhatIsThereAndWhatIsNoName) {
  file("mine.yaml", "name: mine\n");
  EXPECT_EQ(begin("mine"), 2);
  EXPECT_THAT(err(), HasSubstr("is there already"));
  EXPECT_EQ(read_file(path("mine.yaml")).value(), "name: mine\n");
  for (const char* name : {"a/b", "../x", "", ".x", "a b"}) {
    EXPECT_EQ(begin(name), 2) << name;
    EXPECT_THAT(err(), HasSubstr("is no name of a spec"));
  }
  EXPECT_EQ(begin("keys"), 2);
  EXPECT_EQ(run({"spec"}), 2);
  EXPECT_THAT(err(), HasSubstr("hyfreedp new spec my-first"));
  EXPECT_EQ(run({"sepc", "x"}), 2);
  EXPECT_THAT(err(), HasSubstr("spec, baseline"));
  EXPECT_EQ(lines_in(err()), 1);
}

}  // namespace new_spec_test
}  // namespace hyfreedp::cli
