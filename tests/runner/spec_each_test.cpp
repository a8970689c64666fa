// `each` and what a row may say of its training.
#include "spec_file.h"

namespace hyfreedp::runner {
namespace spec_each_test {

using testing::HasSubstr;

std::string spec_of(const std::string& row, const std::string& shared = "") {
  return kHead + (shared.empty() ? "" : "rows:\n  - " + shared + "\n") +
         "panels:\n  - id: one\n    rows:\n      - " + row + "\n";
}

class Each : public WrittenSpec {
 protected:
  json::array rows(const std::string& yaml) const {
    const auto spec = resolved(yaml);
    return spec.empty() ? json::array{} : spec.at("panels").as_array().at(0).at("rows").as_array();
  }
};

TEST_F(Each, EveryCombinationIsARow) {
  const auto made =
      rows(spec_of("{id: f, method: fixed-rate, title: Fixed, each: {options.lr: [1e-3, 0.01], "
                   "train.optimizer.beta1: [0.8, 0.9], train.clipping_constant: [0.5]}}"));
  ASSERT_EQ(made.size(), 4u);
  EXPECT_EQ(made[1].at("id").as_string(), "f-lr-1e-3-beta1-0.9-clipping_constant-0.5");
  EXPECT_EQ(made[1].at("title").as_string(), "Fixed (lr 1e-3, beta1 0.9, clipping_constant 0.5)");
  EXPECT_EQ(made[1].at("group").as_string(), "f");
  EXPECT_EQ(made[2].at("options").at("lr").as_double(), 0.01);
  EXPECT_EQ(made[2].at("optimizer").at("options").at("beta1").as_double(), 0.8);
  EXPECT_EQ(made[2].at("optimizer").at("name").as_string(), "adamw");
  // the panel's
  EXPECT_EQ(made[2].at("optimizer").at("options").at("weight_decay").as_double(), 0.02);
  EXPECT_EQ(made[2].at("clipping_constant").as_double(), 0.5);
}

TEST_F(Each, ReachesThePlan) {
  const auto spec =
      load(spec_of("{id: f, method: fixed-rate, group: g, each: {options.lr: [0.1], steps: [5, 6], "
                   "train.optimizer: [sgd], train.clipping_constant: [0.5]}}"));
  ASSERT_TRUE(spec) << spec.error().message;
  const auto studies = plan(*spec).value();
  ASSERT_EQ(studies.size(), 12u);  // two rows, three epsilons, two seeds
  EXPECT_EQ(studies.front().cell.base.steps, 5);
  EXPECT_EQ(studies.back().cell.base.steps, 6);
  EXPECT_EQ(studies.front().cell.base.optimizer.name, "sgd");
  EXPECT_EQ(studies.front().cell.base.privacy.clipping.constant, 0.5);
  EXPECT_EQ(spec->content.panels.at(0).rows.at(0).group, "g");
}

TEST_F(Each, ASharedRowMayVaryAndListsAreValues) {
  const auto made = rows(
      spec_of("{use: grid, id: g}", "{id: grid, method: nondp-gs, each: {options.grid: [[0.1], [1, 2]]}}"));
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[1].at("id").as_string(), "g-grid-1_2");
  EXPECT_EQ(made[1].at("options").at("grid").as_array().size(), 2u);
}

TEST_F(Each, ARowWithoutIsAsBefore) {
  const auto made = rows(spec_of("{method: prodigy}"));
  ASSERT_EQ(made.size(), 1u);
  for (const char* key : {"group", "optimizer", "clipping_constant", "paper"}) {
    EXPECT_FALSE(made[0].as_object().contains(key)) << key;
  }
}

// Nobody waits for the plan of a slip of the keyboard.
TEST_F(Each, MoreThanAMillionStudiesAreRefused) {
  std::string seeds, rates;
  for (int i = 0; i < 2000; ++i) seeds += std::to_string(i) + ", ";
  for (int i = 1; i <= 600; ++i) rates += "0." + std::to_string(1000 + i) + ", ";
  const auto said = refusal(spec_of("{id: f, method: fixed-rate, seeds: [" + seeds +
                                    "], epsilon: [1], each: {options.lr: [" + rates + "]}}"));
  EXPECT_THAT(said, HasSubstr("the spec makes 1200000 studies"));
}

TEST_F(Each, MistakesAreNamedWhereTheyAre) {
  const auto each = [&](const std::string& what) {
    return refusal(spec_of("{id: f, method: fixed-rate, options: {lr: 1}, each: {" + what + "}}"));
  };
  EXPECT_THAT(each("optoins.lr: [1]"), HasSubstr("Did you mean 'options'?"));
  EXPECT_THAT(each("options: [1]"), HasSubstr("is no key of a row that can vary"));
  EXPECT_THAT(each("options..lr: [1]"), HasSubstr("is no key of a row that can vary"));
  EXPECT_THAT(each("options.lr: 1"),
              HasSubstr("spec.yaml:12: panels[0].rows[0].each.options.lr must be a list"));
  EXPECT_THAT(each("options.lr: [1, 1]"), HasSubstr("repeats a value"));
  EXPECT_THAT(each("options.lr: []"), HasSubstr("must have at least one value"));
  EXPECT_THAT(each("options.rl: [1]"), HasSubstr("unknown key 'rl'"));
  EXPECT_THAT(each("options.lr: [-1]"), HasSubstr("spec.yaml:12: panels[0].rows[0].options.lr must"));
  EXPECT_THAT(each("train.optimizer.beta: [0.5]"), HasSubstr("Did you mean 'beta"));
  EXPECT_THAT(each("train.step: [1]"), HasSubstr("unknown key 'step'"));
  EXPECT_THAT(each(""), HasSubstr("must vary at least one key"));
  EXPECT_THAT(each("[options.lr]: [1]"), HasSubstr("has a key that is not text"));
}

}  // namespace spec_each_test
}  // namespace hyfreedp::runner
