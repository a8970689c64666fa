// The tensors of a weights folder, of whichever files it has, without LibTorch.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/base/stored_tensor.h"

namespace hyfreedp::models {

// Reads the first of these that is there: model.safetensors; model.safetensors.index.json and the
// shards that its "weight_map" names, where a shard outside the folder is refused;
// pytorch_model.bin (state_dict.h); weights.pkl (numpy_pickle.h). Names are without_wrappers().
Result<StoredTensors> read_stored_weights(const std::string& folder);

// DataParallel puts "module." before each name, torch.compile "_orig_mod.", and one around the
// other both. Takes off what all names begin with.
StoredTensors without_wrappers(StoredTensors tensors);

}  // namespace hyfreedp::models
