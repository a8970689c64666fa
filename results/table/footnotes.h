// The numbered footnotes of one table: equal texts share a number.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hyfreedp::results {

class Footnotes {
 public:
  int number_of(const std::string& text) {
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    if (found != texts_.end()) return static_cast<int>(found - texts_.begin()) + 1;
    texts_.push_back(text);
    return static_cast<int>(texts_.size());
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
};

// Adds a text, note or flag unless the list has it.
template <class T>
void add_once(std::vector<T>& list, const std::type_identity_t<T>& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace hyfreedp::results
