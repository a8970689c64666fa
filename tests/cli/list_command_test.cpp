// `hyfreedp list KIND`: all of a kind, one of it, and one line each.
#include <gmock/gmock.h>

#include "baselines/baseline.h"
#include "command_fixture.h"

namespace hyfreedp::cli {
namespace list_command_test {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ListCommand : public CommandTest {
 protected:
  ListCommand() : CommandTest("list") {}

  json::array listed(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    EXPECT_EQ(run(arguments), 0) << err();
    return parse_json(out(), "the list").value().as_array();
  }
};

TEST_F(ListCommand, ANameIsThatEntryAlone) {
  ASSERT_EQ(run({"methods", "prodigy"}), 0) << err();
  EXPECT_THAT(out(), StartsWith("prodigy  ("));
  EXPECT_THAT(out(), HasSubstr("d_coef"));
  EXPECT_THAT(out(), Not(HasSubstr("hyfreedp-plus")));
  EXPECT_EQ(listed({"methods", "prodigy"}).size(), 1U);
  expect_refused({"method"},
                 {"hyfreedp list: there is nothing to list under 'method'. Did you mean 'methods'?"});
  expect_refused({"methods", "prodgy"}, {"'prodgy'", "Did you mean 'prodigy'?", "methods", "dp-hyper"});
  ASSERT_EQ(run({"datasets", "cifar10-c"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("use: a test set alone: for 'ood_test' of a panel"));
  EXPECT_THAT(out(), HasSubstr("test: 50000"));
  EXPECT_THAT(out(), Not(HasSubstr("private_train: ")));
  for (const char* kind : {"optimizers", "controllers", "models", "datasets", "analytic", "figures"}) {
    const auto all = listed({kind});
    const std::string first(all.at(0).at("name").as_string());
    EXPECT_EQ(listed({kind, first}), json::array{all.at(0)}) << kind;
  }
}

TEST_F(ListCommand, TrainingNamesTheOptimizer) {
  ASSERT_EQ(run({"training"}), 0);
  EXPECT_THAT(out(), HasSubstr("  optimizer "));
  EXPECT_THAT(out(), HasSubstr("hyfreedp list optimizers"));
  ASSERT_EQ(run({"training", "sample_rate"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("  sample_rate "));
  EXPECT_THAT(out(), Not(HasSubstr("  steps ")));
  expect_refused({"training", "sampel_rate"}, {"Did you mean 'sample_rate'?"});
}

TEST_F(ListCommand, ShortIsALineEach) {
  ASSERT_EQ(run({"methods", "--short"}), 0);
  EXPECT_EQ(lines_in(out()), static_cast<std::ptrdiff_t>(baselines::registry().size()));
}

TEST_F(ListCommand, FiltersAreOfSpecsAlone) {
  expect_refused({"methods", "--state", "runnable"}, {"hyfreedp list specs"});
  expect_refused({"specs", "--state", "runable"}, {"'runable'", "Did you mean 'runnable'?"});
}

}  // namespace list_command_test
}  // namespace hyfreedp::cli
