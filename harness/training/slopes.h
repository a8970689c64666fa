// Slopes of the released gradient along the direction of the step before, layer by layer, for
// controllers that follow them (optimizers/learning_rate.h).
//
// On the CPU they are computed in the pass that releases the gradient, block by block, while a
// block is in the cache. Sums are in float64 and are added up block by block in their order, so
// that they do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <string>
#include <torch/types.h>
#include <vector>

#include "harness/mechanism/release/noised_vector.h"
#include "harness/models/layers/network.h"
#include "harness/trial/trial_config.h"
#include "optimizers/learning_rate.h"

namespace hyfreedp::training {

// The layers with trainable parameters, in the order of network.trainable_layers().
Result<std::vector<optimizers::TrainedLayer>> trained_layers(const trial::TrialConfig& config,
                                                             const models::Network& network,
                                                             const models::ModelInput& input);

class SlopeMeter {
 public:
  explicit SlopeMeter(const models::Network& network);

  // Returns `then` (noised_vector.h) with the measuring of its piece before it: `gradient` [d] is
  // read as released, `direction` [d] before `then` overwrites it. Pieces are whole blocks of
  // kReleaseBlock elements. Dense vectors on the CPU.
  mechanism::PieceWork measuring(const torch::Tensor& gradient, const torch::Tensor& direction,
                                 mechanism::PieceWork then);
  // The same of whole vectors, on any device.
  void measure(const torch::Tensor& gradient, const torch::Tensor& direction);
  // What was measured last.
  std::vector<optimizers::Slopes::OfLayer> by_layer() const;

  // Consecutive elements of one layer.
  struct Range {
    std::int64_t begin = 0, end = 0;
    std::size_t layer = 0;
  };
  // Of whole layers, as they lie in the vector.
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  struct Sums {
    double along = 0, squared_length = 0;
  };

  std::size_t layers_ = 0;
  std::vector<Range> ranges_;
  std::vector<Range> pieces_;       // cut at the bounds of blocks
  std::vector<std::size_t> first_;  // of each block's pieces; one more at the end
  std::vector<Sums> sums_;          // of each piece
};

}  // namespace hyfreedp::training
