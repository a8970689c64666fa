// Texts that a table says.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace hyfreedp::results {

inline bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const auto& text) { return text.find(part) != std::string::npos; });
}

}  // namespace hyfreedp::results
