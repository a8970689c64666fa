// Text functions that error messages and tables share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hyfreedp {

// The candidate with the smallest edit distance to `name`; empty if more than half of `name`
// differs from every candidate.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);
// " Did you mean 'x'?" or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
// "a, b, ...": the first `most` of them.
std::string first_of(std::vector<std::string> names, std::size_t most);
// Writes at most `digits` significant digits, no trailing zeros: 0.0001 -> "1e-04", 2.5 -> "2.5".
std::string short_number(double value, int digits = 4);
// "1 run", "2 runs". A noun whose plural does not end in -s comes with it: counted(n, "study",
// "studies").
std::string counted(std::int64_t count, std::string_view noun, std::string_view plural = {});
// "120 B", "12.3 kB", "83.5 MB", "1.2 GB"; a kB has 1000 bytes.
std::string bytes_text(std::uint64_t bytes);
// "850 ms", "12.3 s", "4 min 05 s", "2 h 07 min".
std::string human_duration(double seconds);

}  // namespace hyfreedp
