// Ranks of rows over the cells of a table: 1 is the best, equal values share the average of their
// ranks, and all cells without a value share the last ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace hyfreedp::results {

std::vector<double> ranks(std::span<const std::optional<double>> values, bool larger_is_better);

}  // namespace hyfreedp::results
