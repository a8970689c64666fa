// Mean loss and accuracy of a model on a whole split, exact. What may be shown of them is for the caller to say.
#pragma once

#include "harness/models/loss.h"
#include "harness/models/network.h"
#include "harness/training/batch_reader.h"

namespace hyfreedp::training {

struct Evaluated {
  double mean_loss = 0;  // nats
  std::int64_t correct = 0;
  std::int64_t count = 0;

  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(count); }
};

Evaluated evaluate(const models::Network& network, models::Loss loss, BatchReader& reader);

}  // namespace hyfreedp::training
