// The rules by which a run uses its labels, by their kind (datasets/labels.h). labels.cpp has a
// line for each.
#pragma once

#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "harness/models/layers/loss.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

struct LabelRule {
  models::Loss loss;       // that is trained on: a number a sample
  models::Loss test_loss;  // whose sum over a split is divided by the number of scored labels
  bool is_class;           // the largest output is the prediction: there is an accuracy
  // A label a position, each scored on the token before it; kNotScored leaves one out. There is a
  // perplexity, and no private score by accuracy, whose noise is for one prediction a sample.
  bool in_sequence;
};

const LabelRule& rule_of(datasets::LabelKind kind);

// An error if labels are not what `sizes` says, or if the run asks for a score that they do not
// have.
Result<void> check_labels(const trial::TrialConfig& config, const datasets::Sizes& sizes,
                          const datasets::Dataset& dataset);

// An error if a label of these splits is not one of the classes of `sizes`. `name`: of the data.
Result<void> check_labels(const std::string& name, const datasets::Sizes& sizes,
                          const std::vector<const datasets::SplitData*>& splits);

// The split with each label beside the output that is scored on it.
datasets::SplitData aligned(const LabelRule& rule, const datasets::SplitData& split);

// Number of scored labels.
std::int64_t scored(const LabelRule& rule, const torch::Tensor& labels);

}  // namespace hyfreedp::training
