// What runs on one dataset compose to that divided its records alike, or otherwise.
#include <gmock/gmock.h>

#include "harness/runner/execute/budget.h"
#include "harness/runner/odometer/odometer.h"
#include "tests/runner/spending_world.h"

namespace hyfreedp::runner {
namespace odometer_divisions_test {

using ::testing::HasSubstr;

using namespace spending;

// What a second run on data that were read in another way does to a reading.
class Divisions : public ::testing::Test {
 protected:
  void put(const std::string& dataset, const json::object& options, const char* split) {
    auto config = any_config(dataset);
    config.dataset.options = options;
    ASSERT_TRUE(world_.store().put_trial(record_of(config, {on(split, 1.0)}), {}, {}));
  }
  // A run that trained, and one that read the validation split alone.
  Spending of_two(const std::string& dataset, const json::object& first, const json::object& second) {
    put(dataset, first, "private_train");
    put(dataset, second, "private_validation");
    return only(world_);
  }
  static double sequence() {
    return accounting::report_epsilon({.events = {on("", 1.0, 20)}}, kDelta)->epsilon;
  }
  World world_;
};

const json::object kPeople{
    {"path", "d/people.csv"}, {"files_mark", "a"}, {"train", 800}, {"validation", 100}};

json::object people_with(const char* option, const json::value& value) {
  auto options = kPeople;
  options[option] = value;
  return options;
}

TEST_F(Divisions, OneFileUnderOneOrTwoNamesIsDividedAlike) {
  auto copy = people_with("path", "d/folks.csv");
  copy["normalise"] = "norm";
  copy["test"] = 50;
  const auto spending = of_two("table-file", kPeople, copy);
  EXPECT_FALSE(spending.splits_differ);
  EXPECT_FALSE(spending.is_lower_bound());
  EXPECT_LT(epsilon_of(spending), sequence());
}

TEST_F(Divisions, RowsInAnotherOrderComposeInSequence) {
  const auto spending = of_two("table-file", kPeople, people_with("files_mark", "b"));
  EXPECT_EQ(epsilon_of(spending), sequence());
  EXPECT_TRUE(spending.is_lower_bound());
  const auto refused =
      Budget::open(world_.store(), world_.out(), Cap{100, kDelta})
          ->reserve(plan_release(world_.read(spending::spec_of("other", spending::kFixed))).value());
  EXPECT_TRUE(refused) << "on other data a limit holds";
}

TEST_F(Divisions, AFolderAndAFileOfOneNameComposeInSequence) {
  const auto spending = of_two("table-file", kPeople, people_with("path", "d/people"));
  EXPECT_EQ(epsilon_of(spending), sequence());
  EXPECT_TRUE(spending.is_lower_bound());
}

TEST_F(Divisions, SelectionsOfOneCollectionComposeInSequence) {
  const json::object letters{{"split", "letters"}, {"train", 1000}, {"validation", 100}};
  auto digits = letters;
  digits["split"] = "digits";
  const auto spending = of_two("emnist", letters, digits);
  EXPECT_EQ(epsilon_of(spending), sequence());
  EXPECT_TRUE(spending.is_lower_bound());
}

// A smaller number is a part of a larger one, and the test records stay the test records.
TEST_F(Divisions, OtherSizesComposeInSequenceAndAreKnown) {
  const auto spending = of_two("table-file", kPeople, people_with("train", 700));
  EXPECT_TRUE(spending.splits_differ);
  EXPECT_EQ(epsilon_of(spending), sequence());
  EXPECT_FALSE(spending.is_lower_bound());
}

TEST_F(Divisions, NoLimitIsGuaranteedWhereTheyCannotBeMatched) {
  put("table-file", kPeople, "private_train");
  put("table-file", people_with("files_mark", "b"), "private_train");
  auto study = plan_release(world_.read(spending::spec_of("other", spending::kFixed))).value().at(0);
  study.cell.base.dataset = {"table-file", kPeople};
  const auto reserve = [&](std::optional<Cap> cap) {
    return Budget::open(world_.store(), world_.out(), cap)->admit(study, {study.cell.base});
  };
  EXPECT_TRUE(reserve({}));
  const auto refused = reserve(Cap{100, kDelta});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no limit can be guaranteed"));
}

}  // namespace odometer_divisions_test
}  // namespace hyfreedp::runner
