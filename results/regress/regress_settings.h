// Compares the settings of the runs that a method asked for tonight with those of the reference.
// regress.h says what is compared and what a verdict means.
#pragma once

#include <optional>

#include "results/regress/regress.h"

namespace hyfreedp::results {

// The finding "setting"; none if no seed has a run in both nights. Its text begins with the row and
// not with the cell, so that equal changes in several cells of a row have equal texts:
// "fixed-rate: lr 0.01 -> 0.012".
// `same_spec`: is_asked_alike().
std::optional<RegressFinding> compare_settings(const NightCell& tonight, const NightCell& reference,
                                               bool same_spec);

// True if two resolved specs ask for the cell's runs alike: all that decides them is equal. Titles,
// notes, tables, figures, `regress`, other rows, seeds and epsilons do not.
bool is_asked_alike(const json::object& tonight, const json::object& reference, const NightCell& cell);

}  // namespace hyfreedp::results
