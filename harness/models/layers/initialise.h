// Initial weights from a keyed stream. They are public, and equal for equal keys on every device.
//
// Tensor t of the network is drawn from the address (step 0, tensor t, purpose initialisation).
// Adapters come after all other tensors. So the base model starts equal whatever is trainable and
// whether it has adapters.
#pragma once

#include "harness/models/graph/graph.h"
#include "harness/models/layers/network.h"
#include "harness/random/stream.h"

namespace hyfreedp::models {

// `parameters`: all of the network's, in order.
void initialise(Network& network, const std::vector<Parameter>& parameters, const random::Key& key);

}  // namespace hyfreedp::models
