// The memory that writing a checkpoint may take beside training (harness/training/checkpoint.h).
#pragma once

#include <cstdint>

namespace hyfreedp::trial {

// Bytes of a run's state up to which a checkpoint is written beside training, from a copy. A larger
// one is written while training waits.
inline constexpr std::int64_t kMostCopiedState = 64'000'000;

}  // namespace hyfreedp::trial
