// The program's version and the comparability version: rows of different comparability versions are
// not to be compared bit for bit (CHANGELOG.md says what changed).
#pragma once

#include <string>

namespace hyfreedp {
inline constexpr const char* kVersion = "0.11.0";
inline constexpr int kComparabilityVersion = 7;

// "0.4.0 (comparability 4, commit 0123456789ab)": what is kept with results. Without the commit
// where nobody said it: in tests, and in a build outside a checkout.
std::string program_version();
// main() says once what it was built from; "-dirty" at its end: with changes that were not
// committed.
void set_build_commit(const std::string& commit);
std::string build_commit();  // empty where nobody said it
}  // namespace hyfreedp
