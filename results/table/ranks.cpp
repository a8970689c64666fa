#include "results/table/ranks.h"

#include <algorithm>
#include <numeric>

namespace hyfreedp::results {

std::vector<double> ranks(std::span<const std::optional<double>> values, bool larger_is_better) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (!values[a] || !values[b]) return values[a].has_value() && !values[b];
    return larger_is_better ? *values[a] > *values[b] : *values[a] < *values[b];
  });
  std::vector<double> places(values.size());
  for (std::size_t first = 0; first < order.size();) {
    auto last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    // average of first + 1, ..., last
    const double place = static_cast<double>(first + 1 + last) / 2;
    for (auto i = first; i < last; ++i) places[order[i]] = place;
    first = last;
  }
  return places;
}

}  // namespace hyfreedp::results
