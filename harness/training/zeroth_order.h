// The parts of a DP-ZO step (optimizers/dp_zo.h): the random direction z, and what each record's
// loss is ahead, at w + phi z, and behind, at w - phi z. Forward passes alone: no record of
// activations and no gradient. Beside the weights there is one vector [d], which keeps them
// meanwhile; z is not kept but drawn anew where it is used.
#pragma once

#include <torch/types.h>

#include "harness/models/layers/loss.h"
#include "harness/models/layers/network.h"
#include "harness/training/batch_reader.h"
#include "harness/trial/trial_config.h"
#include "optimizers/options.h"

namespace hyfreedp::training {

// The key of a run's directions: public, and a function of seed and repetition alone, so that no
// direction tells anything of the noise or the data. The attempt does not enter.
random::Key direction_key(const trial::TrialConfig& config);

// z of one step.
class RandomDirection {
 public:
  // `scratch` [d], of the weights' kind, is overwritten where the direction is on the sphere.
  RandomDirection(optimizers::Direction law, const random::Key& key, std::int64_t step,
                  torch::Tensor& scratch);
  // out += x z for a finite x: product and sum in double, rounded once to the type of `out` [d],
  // float32 or float64. The same bits whatever the number of threads.
  void add_to(torch::Tensor& out, double x) const;

 private:
  random::Key key_;
  random::Address address_;
  double length_ = 1;  // of one normal number in z
};

// The losses of a batch, [n] float64 on the CPU each.
struct SideLosses {
  torch::Tensor ahead;
  torch::Tensor behind;
};

// Returns the losses of the records `rows`. The network's weights are back as they were, to the
// bit, when it returns; `kept` [d] is overwritten. If the reader was stopped
// (BatchReader::was_stopped), there are none.
SideLosses losses_beside(models::Network& network, models::Loss loss, const RandomDirection& direction,
                         double scale, BatchReader& reader, const mechanism::Rows& rows, torch::Tensor& kept);

}  // namespace hyfreedp::training
