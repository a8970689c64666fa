// The splits and the encoding on files that the tests write; the real file where HYFREEDP_DATA has
// it.
#include "datasets/adult.h"

#include <cmath>
#include <numeric>

#include "datasets/dataset.h"
#include "harness/base/files.h"
#include "scratch.h"

namespace hyfreedp::datasets {
namespace {

const std::string kHeader =
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-"
    "gain,"
    "capital-loss,hours-per-week,native-country,income\n";
const std::string kRow =
    "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,500,40,"
    "United-States,<=50K\n";

std::string changed(const std::string& from, const std::string& to) {
  auto row = kRow;
  return row.replace(row.find(from), from.size(), to);
}

class AdultRows : public Scratch {
 protected:
  Result<AdultTable> read(const std::string& rows, bool log_capital = false) const {
    EXPECT_TRUE(write_file_atomically(path("adult.csv"), kHeader + rows).has_value());
    return read_adult(path("adult.csv"), log_capital);
  }
};

TEST_F(AdultRows, NumbersAreDividedAndCategoriesAreOneHot) {
  const auto table = read(kRow + changed("<=50K", ">50K"));
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->labels, (std::vector<std::int64_t>{0, 1}));
  std::vector<float> expected(kAdultFeatures, 0.0F);
  expected[0] = 0.39F;
  expected[1 + 5] = 1;  // State-gov
  expected[8] = 0.077516F;
  expected[9 + 9] = 1;  // Bachelors
  expected[25] = 0.8125F;
  expected[26 + 4] = 1;  // Never-married
  expected[33 + 0] = 1;  // Adm-clerical
  expected[47 + 1] = 1;  // Not-in-family
  expected[53 + 4] = 1;  // White
  expected[58 + 1] = 1;  // Male
  expected[60] = 0.02174F;
  expected[61] = 0.1F;
  expected[62] = 0.4F;
  expected[63 + 38] = 1;  // United-States
  EXPECT_EQ(std::vector<float>(table->features.begin(), table->features.begin() + kAdultFeatures), expected);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), table->features.begin() + kAdultFeatures));

  const auto logs = read(kRow, true);
  ASSERT_TRUE(logs.has_value());
  EXPECT_NEAR(logs->features[60], std::log(2175.0) / std::log(100000.0), 1e-7);
  EXPECT_NEAR(logs->features[61], std::log(501.0) / std::log(100000.0), 1e-7);
  EXPECT_EQ(logs->features[62], 0.4F);
}

TEST_F(AdultRows, IncompleteRowsAreLeftOutAndKeepTheirPlace) {
  const auto table =
      read(changed("State-gov", "") + kRow + changed("State-gov", "?") + changed("United-States", "") + kRow);
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->places, (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(table->features.size(), 2 * kAdultFeatures);
}

TEST_F(AdultRows, MistakesAreNamedWithTheirLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {changed("State-gov", "Never-worked"), "workclass is 'Never-worked'"},
      {changed("White", "white"), "race is 'white'"},
      {changed("<=50K", "<=50K."), "income is '<=50K.'"},
      {changed("39", "39 "), "age is '39 '"},
      {changed("39", "-1"), "age is '-1'"},
      {changed("39", "nan"), "age is 'nan'"},
      {changed("77516", "x"), "fnlwgt is 'x'"},
      {changed("39,", ""), "14 fields"}};
  for (const auto& [row, what] : cases) {
    const auto table = read(kRow + row);
    ASSERT_TRUE(table.has_error()) << row;
    EXPECT_NE(table.error().message.find(what), std::string::npos) << table.error().message;
    EXPECT_NE(table.error().message.find("adult.csv:3: "), std::string::npos) << table.error().message;
  }
}

// The rows are written down: a file's split may never move.
TEST(AdultSplit, IsTheHashOfAPlaceInTheFile) {
  std::vector<std::size_t> places(20);
  std::iota(places.begin(), places.end(), 0);
  const auto [train, validation, test] = split_adult(places, 3, 4);
  EXPECT_EQ(validation, (std::vector<std::int64_t>{11, 14, 18}));
  EXPECT_EQ(test, (std::vector<std::int64_t>{0, 2, 5, 10}));
  std::vector<std::int64_t> all = train;
  all.insert(all.end(), validation.begin(), validation.end());
  all.insert(all.end(), test.begin(), test.end());
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> every(20);
  std::iota(every.begin(), every.end(), 0);
  EXPECT_EQ(all, every);
  // A row that is not complete any more moves no other row's hash.
  std::erase(places, static_cast<std::size_t>(train[5]));
  std::vector<std::int64_t> still;
  const auto parts = split_adult(places, 3, 4);
  for (const auto row : parts[2])
    still.push_back(static_cast<std::int64_t>(places[static_cast<std::size_t>(row)]));
  EXPECT_EQ(still, test);
}

std::vector<std::int64_t> class_counts(const SplitData& data) {
  const auto counts = at::bincount(data.labels, {}, 2);
  return {counts[0].item<std::int64_t>(), counts[1].item<std::int64_t>()};
}

TEST(Adult, TheFileHasItsKnownSums) {
  const auto& facts = **find_dataset("adult");
  if (const auto folder = locate(facts); folder.has_error())
    GTEST_SKIP() << "SKIPPED: " << folder.error().message;
  const auto options = *resolve_options(facts.options, {}, "adult");
  const auto data = load_dataset("adult", options);
  ASSERT_TRUE(data.has_value()) << data.error().message;
  at::Tensor sums = at::zeros({104}, at::kDouble);
  std::int64_t rich = 0;
  const auto size = sizes(facts, options);
  for (const auto& [part, rows] : {std::pair{data->private_train, size.private_train},
                                   {data->private_validation, size.private_validation},
                                   {data->test, size.test}}) {
    EXPECT_EQ(part.features.sizes().vec(), (std::vector<std::int64_t>{rows, 104}));
    sums += part.features.to(at::kDouble).sum(0);
    const auto counts = class_counts(part);
    rich += counts[1];
    // The share of the majority is 75.1 %: within 4 standard deviations in every part.
    const double n = static_cast<double>(counts[0] + counts[1]);
    EXPECT_NEAR(static_cast<double>(counts[0]) / n, 0.7511, 4 * std::sqrt(0.7511 * 0.2489 / n));
    const auto ones = (part.features == 1).to(at::kLong).sum(1);
    EXPECT_GE(ones.min().item<std::int64_t>(), 8);  // and 1 more for a numeric column at its unit
  }
  EXPECT_EQ(rich, 7508);
  EXPECT_EQ(sums[3].item<double>(), 22286);    // Private
  EXPECT_EQ(sums[59].item<double>(), 20380);   // Male
  EXPECT_EQ(sums[101].item<double>(), 27504);  // United-States
  // Ages, weights, years of education, gains, losses, hours: to float32's rounding.
  const std::vector<std::pair<int, double>> totals = {{0, 11593.64},   {8, 5724.561619}, {25, 19079.9375},
                                                      {60, 329.37141}, {61, 533.0982},   {62, 12345.68}};
  for (const auto& [column, total] : totals) EXPECT_NEAR(sums[column].item<double>(), total, 1e-6 * total);
}

}  // namespace
}  // namespace hyfreedp::datasets
