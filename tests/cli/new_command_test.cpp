// `hyfreedp new` on a copy of the files that it reads and changes.
#include <gmock/gmock.h>
#include <map>

#include "command_fixture.h"
#include "harness/cli/create/new_entry.h"

namespace hyfreedp::cli {
namespace new_command_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class NewCommand : public CommandTest {
 protected:
  NewCommand() : CommandTest("new") {}

  void SetUp() override {
    CommandTest::SetUp();
    const fs::path source = HYFREEDP_SOURCE_DIR;
    for (const char* room : {"baselines", "optimizers", "datasets"}) {
      fs::create_directories(folder_ / "tests" / room);
      fs::copy(source / room, folder_ / room, fs::copy_options::recursive);
    }
    for (const char* file :
         {"CMakeLists.txt", "tests/baselines/template_test.cpp", "tests/optimizers/template_test.cpp",
          "tests/optimizers/constant_test.cpp", "tests/datasets/synthetic_regression_test.cpp"}) {
      fs::copy_file(source / file, folder_ / file);
    }
  }

  int begin(const std::string& kind, const std::string& name) {
    return run({kind, name, "--source", folder_.string()});
  }
  std::string text(const std::string& name) const { return read_file(path(name)).value(); }
  std::map<std::string, std::string> tree() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) files[entry.path().string()] = read_file(entry.path().string()).value();
    }
    return files;
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    auto content = text(name);
    const auto at = content.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    file(name, content.replace(at, from.size(), to));
  }
  // Exit code 2, one line with `part`, and every file as it was.
  void expect_untouched(const std::string& kind, const std::string& name, const std::string& part) {
    const auto before = tree();
    EXPECT_EQ(begin(kind, name), 2) << name;
    EXPECT_EQ(out(), "") << name;
    EXPECT_EQ(lines_in(err()), 1) << err();
    EXPECT_THAT(err(), HasSubstr(part));
    EXPECT_TRUE(tree() == before) << name << ": " << err();
  }
};

TEST_F(NewCommand, BaselineIsItsTemplateUnderAnotherName) {
  ASSERT_EQ(begin("baseline", "my-method"), 0) << err();
  EXPECT_THAT(out(), HasSubstr("baselines/TEMPLATE.md"));
  EXPECT_THAT(text("baselines/my_method.h"), HasSubstr("\nBaseline my_method();\n"));
  const auto source = text("baselines/my_method.cpp");
  EXPECT_THAT(source, HasSubstr("#include \"baselines/my_method.h\"\n"));
  EXPECT_THAT(source, HasSubstr(".name = \"my-method\",\n"));
  EXPECT_THAT(source, HasSubstr(".title = \"my method\",\n"));
  EXPECT_THAT(source, HasSubstr(".source = \"a copy of fixed-rate\",\n"));
  EXPECT_THAT(source, HasSubstr("struct MyMethodOptions {\n  double lr = 1e-3;\n};\n"));
  EXPECT_THAT(source, HasSubstr("read_options<MyMethodOptions>(cell.options).lr"));
  const auto test = text("tests/baselines/my_method_test.cpp");
  EXPECT_THAT(test, HasSubstr("TEST(MyMethod, "));
  EXPECT_THAT(test, HasSubstr("find_baseline(\"my-method\")"));
  const auto table = text("baselines/registry.cpp");
  EXPECT_THAT(table, HasSubstr("\n      my_method(),\n      // New baselines go above this line.\n"));
  EXPECT_THAT(table, HasSubstr("linear_scaling.h\"\n#include \"baselines/my_method.h\"\n"));
  // A second one goes below the first, and the first cannot be had again.
  ASSERT_EQ(begin("baseline", "zz9"), 0) << err();
  EXPECT_THAT(text("baselines/registry.cpp"), HasSubstr("my_method(),\n      zz9(),\n"));
  EXPECT_THAT(text("baselines/registry.cpp"), HasSubstr("template.h\"\n#include \"baselines/zz9.h\"\n\n"));
  expect_untouched("baseline", "my-method", "'my-method' exists already");
}

TEST_F(NewCommand, OptimizerAndControllerGetFactsToo) {
  ASSERT_EQ(begin("optimizer", "my-rule"), 0) << err();
  ASSERT_EQ(begin("controller", "a-decay"), 0) << err();
  EXPECT_THAT(text("optimizers/my_rule.cpp"), HasSubstr("class MyRule final : public Optimizer {"));
  EXPECT_THAT(text("optimizers/my_rule.h"), Not(HasSubstr("Bernstein")));
  EXPECT_THAT(text("optimizers/a_decay.cpp"),
              HasSubstr("class ADecay final : public LearningRateController {"));
  EXPECT_THAT(text("tests/optimizers/my_rule_test.cpp"), HasSubstr("make_optimizer(\"my-rule\""));
  EXPECT_THAT(text("tests/optimizers/a_decay_test.cpp"), HasSubstr("make_controller(\"a-decay\""));
  EXPECT_THAT(text("optimizers/my_rule.h"), HasSubstr("make_my_rule(const MyRuleOptions& options);"));
  EXPECT_THAT(text("optimizers/options.h"),
              HasSubstr("\n\nstruct MyRuleOptions {\n  double beta1 = 0.9;\n};\n"
                        "BOOST_DESCRIBE_STRUCT(MyRuleOptions, (), (beta1))\n\nstruct ConstantOptions {"));
  EXPECT_THAT(text("optimizers/options.h"), HasSubstr("BOOST_DESCRIBE_STRUCT(ADecayOptions, (), (lr))\n"));
  const auto facts = text("optimizers/facts.cpp");
  EXPECT_THAT(facts, HasSubstr("options_of<MyRuleOptions>({beta1()})"));
  EXPECT_THAT(facts,
              HasSubstr("\n}\n\nFacts my_rule_facts() {\n  return {.name = \"my-rule\",\n          .title = "
                        "\"my rule\",\n          .source = \"a copy of signum\",\n"));
  EXPECT_THAT(facts, HasSubstr("\n      my_rule_facts(),\n      // New optimizers go above this line.\n"));
  EXPECT_THAT(facts, HasSubstr("\n      a_decay_facts(),\n      // New controllers go above this line.\n"));
  const auto table = text("optimizers/registry.cpp");
  EXPECT_THAT(table,
              HasSubstr("\n    {\"my-rule\", make_my_rule},\n    // New optimizers go above this line.\n"));
  EXPECT_THAT(table,
              HasSubstr("\n    {\"a-decay\", make_a_decay},\n    // New controllers go above this line.\n"));
  EXPECT_THAT(table, HasSubstr("\n\n#include \"optimizers/a_decay.h\"\n#include \"optimizers/adadp.h\"\n"));
}

TEST_F(NewCommand, DatasetIsAPairAndALine) {
  ASSERT_EQ(begin("dataset", "my-data"), 0) << err();
  EXPECT_THAT(out(), HasSubstr("dataset: {name: my-data}"));
  const auto header = text("datasets/my_data.h");
  EXPECT_THAT(header, HasSubstr("struct MyData {"));
  EXPECT_THAT(header, HasSubstr(".name = \"my-data\""));
  EXPECT_THAT(header, HasSubstr(".title = \"my data\""));
  EXPECT_THAT(header, Not(HasSubstr("Mohapatra")));
  EXPECT_THAT(text("datasets/my_data.cpp"), HasSubstr("Result<Dataset> MyData::load("));
  EXPECT_THAT(text("tests/datasets/my_data_test.cpp"), HasSubstr("find_dataset(\"my-data\")"));
  const auto table = text("datasets/registry.h");
  EXPECT_THAT(table, HasSubstr("\n    MyData,\n    // New datasets go above this line.\n"));
  EXPECT_THAT(table, HasSubstr("mnist.h\"\n#include \"datasets/my_data.h\"\n"));
}

TEST_F(NewCommand, RefusesANameThatCannotBeOrIsTaken) {
  for (const char* name : {"My-method", "my_method", "9lives", "my--method", "my-", "../x", "", "a b",
                           "a-name-that-is-longer-than-anybody-would-want"}) {
    expect_untouched("baseline", name, "is not a valid name");
  }
  expect_untouched("baseline", "default", "keyword of C++");
  expect_untouched("baseline", "prodigy", "'prodigy' exists already, in baselines/prodigy.cpp");
  expect_untouched("baseline", "fixed-rate", "'fixed-rate' exists already, in baselines/template.cpp");
  expect_untouched("dataset", "adult", "'adult' exists already, in datasets/adult.h");
  expect_untouched("optimizer", "adamw", "'adamw' exists already, in optimizers/facts.cpp");
  expect_untouched("baseline", "registry", "has another meaning in baselines/baseline.h");
  expect_untouched("optimizer", "layout", "has another meaning in optimizers/optimizer.h");
  expect_untouched("controller", "loss-bound", "has another meaning in optimizers/options.h");
  expect_untouched("baseline", "support", "baselines/support.h exists already");
  expect_untouched("controller", "sums", "optimizers/sums.h exists already");
}

TEST_F(NewCommand, ChangesNothingWhereATableOrTemplateIsNotAsKnown) {
  replace("optimizers/registry.cpp", "// New optimizers go above this line.", "");
  expect_untouched("optimizer", "my-rule",
                   "must have exactly one line '// New optimizers go above this line.' and has none");
  EXPECT_EQ(begin("controller", "my-decay"), 0) << err();
  replace("baselines/registry.cpp", "return all;", "// New baselines go above this line.\n  return all;");
  expect_untouched("baseline", "my-method", "has several");
  fs::remove(path("tests/optimizers/constant_test.cpp"));
  expect_untouched("controller", "another", "constant_test.cpp: cannot open");
  replace("optimizers/facts.cpp", "Facts constant_facts()", "Facts steady_facts()");
  file("tests/optimizers/constant_test.cpp", "constant");
  expect_untouched("controller", "another", "has no 'Facts constant_facts() {'");
}

// A folder stands where the last table's new text would be written, then where that table is.
TEST_F(NewCommand, LeavesNothingHalfWritten) {
  const auto obstacle = path("baselines/registry.cpp.new-" + std::to_string(::getpid()));
  fs::create_directories(obstacle + "/full");
  expect_untouched("baseline", "my-method", "nothing was changed.");
  const auto entry = plan_entry(folder_.string(), "optimizer", "my-rule");
  ASSERT_TRUE(entry) << entry.error().message;
  ASSERT_EQ(entry->files.back().path, "optimizers/facts.cpp");
  fs::remove(path("optimizers/facts.cpp"));
  fs::create_directories(path("optimizers/facts.cpp/full"));
  const auto before = tree();
  const auto written = write_entry(folder_.string(), *entry);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("facts.cpp"));
  EXPECT_TRUE(tree() == before) << "the first table was taken already";
}

TEST_F(NewCommand, FindsTheCheckoutFromBelow) {
  EXPECT_EQ(run({"baseline", "my-method", "--source", path("tests/optimizers")}), 0) << err();
  EXPECT_TRUE(fs::exists(path("baselines/my_method.cpp")));
  fs::remove(path("CMakeLists.txt"));
  expect_untouched("baseline", "another",
                   folder_.string() + " is not inside a source tree of hyfreedp: neither it");
}

TEST_F(NewCommand, NamesTheKindsAndWhatIsMissing) {
  EXPECT_EQ(run({"baselin", "x"}), 2);
  EXPECT_THAT(err(), HasSubstr("Did you mean 'baseline'?"));
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(err(), HasSubstr("baseline, optimizer, controller or dataset"));
  EXPECT_EQ(run({"optimizer"}), 2);
  EXPECT_THAT(err(), HasSubstr("hyfreedp new optimizer my-optimizer"));
  EXPECT_EQ(run({"baseline", "--help"}), 0);
}

}  // namespace new_command_test
}  // namespace hyfreedp::cli
