// What the labels of a dataset are. A dataset names its kind (Sizes::labels); what training makes
// of each kind stands in harness/training/labels.cpp, and nothing else asks which one it is. A new
// kind is an enumerator and a unit here, a line there, and perhaps a loss
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

// Why runs on labels of this kind give no validation accuracy to choose by, as the end of a
// sentence "'NAME' has ..."; with `noised`: none that may be released with the noise of a score.
// Empty: they do.
inline std::string lacks_score(LabelKind kind, bool noised) {
  if (kind == LabelKind::real)
    return "real numbers as labels, which have no accuracy for a method to choose by; use a method of one "
           "run";
  if (kind == LabelKind::tokens && noised)
    return "sequences, of which one may change many tokens' predictions: a private score, whose noise is "
           "for one prediction a sample, cannot be released on it; use a method of one run";
  return "";
}

}  // namespace hyfreedp::datasets
