#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hyfreedp {

// The parts of `text` between separators, empty ones included: at least one. join() (text.h) puts
// them together again.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace hyfreedp
