// Published convolutional networks as this program has them: without BatchNorm.
//
// With its fixed statistics a BatchNorm is an affine map of each channel,
// y = gamma (x - mean) / sqrt(var + eps) + beta. It is multiplied into the convolution before it,
// and this before any private datum is seen; what trains afterwards mixes no samples.
#pragma once

#include <string>
#include <vector>

#include "harness/models/weights/weights.h"

namespace hyfreedp::models {

// A convolution without bias, and the BatchNorm that reads what it gives.
struct NormedConvolution {
  std::string name;                 // of the convolution in the network
  std::string file;                 // and in the file
  std::string norm;                 // the file's BatchNorm
  std::vector<std::int64_t> shape;  // of the convolution's weight, [outputs, inputs / groups, k, k]
};

// A network of such convolutions and a linear head.
struct NormedNetwork {
  double eps = 0;  // of every BatchNorm
  std::vector<NormedConvolution> convolutions;
  std::string head;                      // its name in the network
  std::string head_file;                 // and in the file
  std::vector<std::int64_t> head_shape;  // of its weight, [classes, features]
};

// Weights and biases under the network's names, float64. `with_head`: the file's head too; without
// it nothing of the head is looked at. An error that lists all missing, unexpected and misshaped
// tensors by the file's names, or that names a BatchNorm with a negative variance.
// num_batches_tracked is ignored.
Result<NamedTensors> fold_batch_norms(const NormedNetwork& network, const NamedTensors& file, bool with_head);

}  // namespace hyfreedp::models
