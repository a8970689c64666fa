// Initial weights from a keyed stream. They are public, and equal for equal keys on every device.
//
// Tensor t of the blueprint is drawn from the address (step 0, tensor t, purpose initialisation).
// Adapters come after all other tensors. So the base model starts equal whatever is trainable and
// whether it has adapters.
#pragma once

#include "harness/models/facts/blueprint.h"
#include "harness/models/networks/network.h"
#include "harness/random/stream.h"

namespace hyfreedp::models {

void initialise(Network& network, const Blueprint& plan, const random::Key& key);

}  // namespace hyfreedp::models
