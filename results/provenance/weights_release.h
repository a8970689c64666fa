// Decides whether the weights that a row reports may leave the output folder under the row's
// epsilon.
//
// Weights are released like a run's per-step scalars (released_scalars.h): those of a private run
// are functions of releases; those of a run without noise are raw values of the training examples,
// unless these are public. They reveal more than an accuracy, and they travel without the table's
// footnotes. So two kinds of row that a table shows with a mark are confidential here: a choice
// that used private data uncharged (of an oracle or a simulated method), and noise that the spec's
// seed repeats, which anybody can subtract. A private selection releases its reported run; the
// losing runs' weights are never asked about.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::results {

// Empty if the weights are a release at the row's epsilon, or of public data. Else the reason, such
// as "its learning rate was chosen ...". `label` as in StudyRecord, `trial_config` as the store has
// it.
std::string why_weights_are_confidential(const std::string& label, const json::object& trial_config);

}  // namespace hyfreedp::results
