// Scores a split with classes of unequal sizes: the accuracy of each class by itself, and how well
// outputs order the samples. They have no noise; the caller decides who may see them.
//
//   macro accuracy   the mean over classes of the part of a class's samples that are predicted
//                    rightly (balanced accuracy)
//   AUC              area under the ROC curve: of two classes that of the second's probability; of
//                    more the mean over classes of one against the rest, by the softmax
//                    probabilities (as scikit-learn's roc_auc_score with multi_class="ovr").
//                    Ties count one half
//   MCC, F1          Matthews' correlation and, of two classes, F1 of the second
//                    (datasets/scores/classes.h)
//
// A class without a sample in the split is left out of both means.
#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace hyfreedp::training {

class ClassScores {
 public:
  // logits [samples, classes], labels [samples] int64.
  void add(const at::Tensor& logits, const at::Tensor& labels);
  // 0 to 1; not a number where no class has a sample (AUC: and another class has one, too).
  double macro_accuracy() const;
  double auc() const;
  // In [-1, 1], and 0 to 1; not a number where there is no sample, F1 also of other than two
  // classes.
  double matthews() const;
  double f1() const;

 private:
  std::vector<at::Tensor> probabilities_, labels_, predicted_;
};

// Returns the area under the ROC curve of `scores`, which are larger for samples that are likelier
// of the class; `is_of_class` is as long. The class and the rest must each have a sample.
double area_under_curve(const std::vector<double>& scores, const std::vector<bool>& is_of_class);

}  // namespace hyfreedp::training
