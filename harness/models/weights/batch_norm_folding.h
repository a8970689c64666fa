// Published convolutional networks as this program has them: without BatchNorm.
//
// A BatchNorm with fixed statistics is an affine map of each channel,
// y = gamma (x - mean) / sqrt(var + eps) + beta. It is multiplied into the convolution before it,
// before any private data are seen. No layer that trains afterwards mixes samples.
#pragma once

#include "harness/models/facts/published_tensors.h"
#include "harness/models/weights/weights.h"

namespace hyfreedp::models {

// Weights and biases under the network's names, float64. Errors are those of check_published(), and
// one that names a BatchNorm with a negative variance.
// num_batches_tracked is ignored.
Result<NamedTensors> fold_batch_norms(const NormedNetwork& network, const NamedTensors& file, bool with_head);

}  // namespace hyfreedp::models
