// Whether a method makes of one spec what it made of it before; regress.h says what is compared and
// what a verdict means.
#pragma once

#include <optional>

#include "results/regress.h"

namespace hyfreedp::results {

// One finding, "setting"; none where no seed has a run in both nights. Its text begins with the
// row, not with the cell, so that cells of one row that changed alike read alike: "fixed-rate: lr
// 0.01 -> 0.012".
std::optional<RegressFinding> compare_settings(const NightCell& tonight, const NightCell& reference,
                                               bool same_spec);

}  // namespace hyfreedp::results
