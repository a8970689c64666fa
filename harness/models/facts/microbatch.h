// How many samples a step has in memory at once, without LibTorch: for the batch reader
// (harness/training/batch_reader.h), and for whoever must know beforehand what a run needs.
#pragma once

#include <cstdint>
#include <string>

#include "harness/base/result.h"

namespace hyfreedp::models {

// The microbatch of a run: `asked`, its own number, or the model's where that is 0. An error for a
// model that is not registered.
Result<std::int64_t> microbatch_of(const std::string& model, std::int64_t asked);
// How many different samples a microbatch has where each comes in so many copies (0 or 1: as it
// is): at least one, however many copies there are of it.
std::int64_t samples_at_once(std::int64_t microbatch, std::int64_t copies);

}  // namespace hyfreedp::models
