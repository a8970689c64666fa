// Macro accuracy, AUC, correlation and F1: scikit-learn's values, and classes that have no sample.
#include "harness/training/class_scores.h"

#include <ATen/ATen.h>
#include <cmath>
#include <gtest/gtest.h>

namespace hyfreedp::training {
namespace class_scores_test {

at::Tensor labels_of(std::vector<std::int64_t> labels) { return at::tensor(labels, at::kLong); }

// Logits in halves, with ties within each class's column; of three classes.
at::Tensor three_classes() {
  const std::vector<float> logits = {
      2.5, -2.5, 0.5,  0, -0.5, -0.5, -1.5, 0,   -1, 4,  0, -0.5, 0,   -0.5, -1, 0,  0.5, 0,    1.5,  0,   0,
      1.5, 1,    -0.5, 0, 1,    2,    -0.5, 0.5, 1,  -1, 0, 1,    0.5, 0,    1,  -3, 1,   -0.5, -1.5, 0.5, 1};
  return at::tensor(logits, at::kFloat).view({-1, 3});
}
const std::vector<std::int64_t> kThree = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2};

// balanced_accuracy_score, roc_auc_score(multi_class="ovr"), matthews_corrcoef and f1_score of
// scikit-learn 1.9.1.
TEST(ClassScores, AreScikitLearns) {
  ClassScores three;
  for (const auto& [from, to] : {std::pair{0, 5}, {5, 14}}) {  // in two batches
    three.add(three_classes().slice(0, from, to), labels_of(kThree).slice(0, from, to));
  }
  EXPECT_NEAR(three.macro_accuracy(), 0.4603174603174603, 1e-12);
  EXPECT_NEAR(three.auc(), 0.6713048855905998, 1e-12);
  EXPECT_NEAR(three.matthews(), 0.23390139393964984, 1e-12);
  EXPECT_TRUE(std::isnan(three.f1()));

  ClassScores two;
  const auto logits = three_classes().slice(1, 0, 2);
  two.add(logits, (labels_of(kThree) > 0).to(at::kLong));
  EXPECT_NEAR(two.macro_accuracy(), 0.7142857142857143, 1e-12);
  EXPECT_NEAR(two.auc(), 0.8163265306122449, 1e-12);
  EXPECT_NEAR(two.matthews(), 0.42857142857142855, 1e-12);
  EXPECT_NEAR(two.f1(), 0.7142857142857143, 1e-12);
}

TEST(ClassScores, ClassesWithoutASampleAreLeftOut) {
  ClassScores scores;
  EXPECT_TRUE(std::isnan(scores.macro_accuracy()));
  EXPECT_TRUE(std::isnan(scores.matthews()));
  EXPECT_TRUE(std::isnan(scores.f1()));
  EXPECT_TRUE(std::isnan(scores.auc()));
  const std::vector<float> logits = {3, 0, 1, 2, 0, 1, 0, 1, 3, 0, 1, 3};
  scores.add(at::tensor(logits, at::kFloat).view({4, 3}), labels_of({0, 0, 2, 2}));
  EXPECT_EQ(scores.macro_accuracy(), 1);
  EXPECT_EQ(scores.auc(), 1);
  ClassScores one;
  one.add(at::tensor(logits, at::kFloat).view({4, 3}), labels_of({0, 0, 0, 0}));
  EXPECT_EQ(one.macro_accuracy(), 0.5);
  EXPECT_TRUE(std::isnan(one.auc())) << "nothing is to be told from anything";
}

// In float32 both probabilities would be 1, and a tie.
TEST(ClassScores, SureProbabilitiesAreOrdered) {
  ClassScores scores;
  scores.add(at::tensor(std::vector<float>{0, 20, 0, 22}, at::kFloat).view({2, 2}), labels_of({0, 1}));
  EXPECT_EQ(scores.auc(), 1);
}

TEST(ClassScores, ADivergedNetworkOrdersNothing) {
  ClassScores scores;
  scores.add(at::full({4, 2}, std::nan(""), at::kFloat), labels_of({0, 1, 0, 1}));
  EXPECT_EQ(scores.auc(), 0.5);
}

}  // namespace class_scores_test
}  // namespace hyfreedp::training
