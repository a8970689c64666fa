// The δ that is taken where none is given.
#pragma once

#include <cmath>
#include <cstdint>

namespace hyfreedp::accounting {

// N^-1.1 for N records, at least 1, as in HyFreeDP's experiments (Bu et al. 2025).
inline double default_delta(std::int64_t records) { return std::pow(static_cast<double>(records), -1.1); }

}  // namespace hyfreedp::accounting
