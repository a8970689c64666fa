// The events file of `hyfreedp epsilon --events`, with bounds on what one file may ask for.
#pragma once

#include <cstddef>
#include <string>

#include "harness/accounting/event.h"

namespace hyfreedp::cli {

inline constexpr std::size_t kLargestEventsFile = 64u << 20;  // bytes
inline constexpr std::size_t kMostDifferentEvents = 10000;    // equal ones count once

// Reads and checks PATH (a pipe will do). An error names PATH and the place in it. Also refuses what would keep the
// accountants busy for minutes: more than kMostDifferentEvents different mechanisms and selections.
Result<accounting::Events> read_events_file(const std::string& path);

}  // namespace hyfreedp::cli
