// The number of samples that a step has in memory at once, without LibTorch: for the batch reader
// (harness/training/batch_reader.h), and for estimates of what a run needs.
#pragma once

#include <cstdint>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::models {

// The microbatch of a run: `asked`, its own number, or the model's where that is 0. An error for a
// model that is not registered.
Result<std::int64_t> microbatch_of(const std::string& model, std::int64_t asked);
// The number of different samples in a microbatch if each comes in `copies` copies (0 means 1). At
// least 1, even if the copies alone exceed the microbatch.
std::int64_t samples_at_once(std::int64_t microbatch, std::int64_t copies);

}  // namespace hyfreedp::models
