// The mean loss and accuracy of a model on a whole split, without noise. The caller decides who may
// see them.
//
//   classes      mean over samples of the cross entropy; `correct` and `count` are numbers of
//                samples
//   real labels  mean over samples of the squared error; `correct` is 0
//   sequences    mean over all scored tokens of the split, so that exp(mean_loss) is the perplexity
//                of the literature (it is not the mean over samples of their means); `correct` and
//                `count` are numbers of tokens
#pragma once

#include <cmath>

#include "harness/models/layers/loss.h"
#include "harness/models/networks/network.h"
#include "harness/training/batch_reader.h"

namespace hyfreedp::training {

struct Evaluated {
  double mean_loss = 0;  // nats; squared error of real labels
  std::int64_t correct = 0;
  std::int64_t count = 0;
  bool of_tokens = false;
  bool has_accuracy = true;

  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(count); }
  double perplexity() const { return std::exp(mean_loss); }
};

Evaluated evaluate(const models::Network& network, models::Loss loss, BatchReader& reader);

}  // namespace hyfreedp::training
