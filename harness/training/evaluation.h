// The mean loss and accuracy of a model on a whole split, without noise. The caller decides who may
// see them.
//
// The mean is over all scored labels of the split: samples, or the tokens of sequences, so that
// exp(mean_loss) is the perplexity of the literature (it is not the mean over samples of their
// means).
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/models/layers/network.h"
#include "harness/training/batch_reader.h"
#include "harness/training/class_scores.h"
#include "harness/training/labels.h"

namespace hyfreedp::training {

struct Evaluated {
  LabelRule labels;
  double mean_loss = 0;      // nats; squared error of real labels
  std::int64_t correct = 0;  // of `count`; 0 where labels are no classes
  std::int64_t count = 0;    // scored labels
  std::int64_t records = 0;
  double score_sum = 0;  // bounded_score_sum of the records' losses, where a bound was given
  std::optional<ClassScores> by_class = {};

  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(count); }
  double perplexity() const { return std::exp(mean_loss); }
  // The metrics that labels of this kind have, by the names that a journal gives them.
  std::vector<std::pair<std::string, double>> metrics() const;
};

// Values that are asked for beside losses and correct predictions.
struct AlsoEvaluated {
  bool by_class = false;  // what classes of unequal sizes need; for one class a sample
  double loss_bound = 0;  // above 0: Evaluated::score_sum
};

Evaluated evaluate(const models::Network& network, const LabelRule& labels, BatchReader& reader,
                   AlsoEvaluated also = {});

}  // namespace hyfreedp::training
