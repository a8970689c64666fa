// Initial weights from a keyed stream: public, and equal for equal keys on every device.
//   zero   all 0
//   he     weight [out, in...]: N(0, 2 / values that one output reads) (He et al., arXiv:1502.01852); biases 0
// Tensor t draws from address (step 0, tensor t, purpose initialisation); frozen tensors count on after the trainable ones.
#pragma once

#include "harness/models/network.h"
#include "harness/random/stream.h"

namespace hyfreedp::models {

void fill_he(Network& network, const std::string& layer, const random::Key& key);

}  // namespace hyfreedp::models
