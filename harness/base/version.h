// The program's version and the comparability version: rows of different comparability versions are not to be
// compared bit for bit (CHANGELOG.md says what changed).
#pragma once

namespace hyfreedp {
inline constexpr const char* kVersion = "0.4.0";
inline constexpr int kComparabilityVersion = 4;
}  // namespace hyfreedp
