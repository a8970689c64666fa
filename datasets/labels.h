// This file lists what the labels of a dataset may be. A dataset names its kind (Sizes::labels);
// what training makes of each kind stands in harness/training/labels.cpp, and nothing else asks
// which one it is. A new kind is an enumerator and a unit here, a line there, and perhaps a loss
// (harness/models/layers/loss.h) and a metric (harness/training/evaluation.cpp).
#pragma once

#include <cstdint>
#include <string>

#include "harness/models/graph/model_input.h"

namespace hyfreedp::datasets {

enum class LabelKind {
  classes,  // int64 below Sizes::classes, one an example
  tokens,   // int64 below Sizes::vocabulary (= classes), one a position, or kNotScored
  real,     // float32, one an example; Sizes::classes is 1, for the model's one output
};

// The unit of a loss, for people who may not know which kind a dataset has.
inline constexpr const char* kLossUnit = "nats; of real labels the squared error";

using models::kNotScored;

// A method chooses its run by one of these.
enum class ScoreKind {
  accuracy,         // un-noised
  noised_accuracy,  // with noise for one prediction a record
  noised_loss,      // of each record's mean loss, clipped
};

// Why runs on labels of this kind give no such score, as the end of a sentence "'NAME' has ...".
// Empty: they do.
inline std::string lacks_score(LabelKind kind, ScoreKind score) {
  if (score == ScoreKind::noised_loss) return "";
  const std::string advice = score == ScoreKind::noised_accuracy
                                 ? "; give 'score_loss_bound' to choose by losses, or use a method of one run"
                                 : "; use a method of one run";
  if (kind == LabelKind::real)
    return "real numbers as labels, which have no accuracy for a method to choose by" + advice;
  if (kind == LabelKind::tokens && score == ScoreKind::noised_accuracy)
    return "sequences, of which one may change many tokens' predictions: the noise of a private accuracy is "
           "for one prediction a sample" +
           advice;
  return "";
}

}  // namespace hyfreedp::datasets
