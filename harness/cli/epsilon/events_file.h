// The events file of `hyfreedp epsilon --events`, with bounds on what one file may ask for.
#pragma once

#include <cstddef>
#include <string>

#include "harness/accounting/event.h"

namespace hyfreedp::cli {

inline constexpr std::size_t kLargestEventsFile = 64u << 20;  // bytes
inline constexpr std::size_t kMostDifferentEvents = 10000;    // equal ones count once

// Reads and checks PATH, which may be a pipe. Errors name PATH and the place in it. More than
// kMostDifferentEvents different mechanisms and selections are refused, because the accountants
// would need minutes.
Result<accounting::Events> read_events_file(const std::string& path);

}  // namespace hyfreedp::cli
