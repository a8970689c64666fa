// Whether the weights that a row reports may leave the output folder under the row's epsilon.
//
// Weights are released as a run's per-step scalars are (released_scalars.h): those of a private run are functions of releases, those
// of a run without noise are raw values of the training examples, unless these are public. They tell more than an accuracy, and
// whoever gets them cannot take a footnote along, so two kinds of row that a table shows with a mark are confidential here: a
// choice that saw private data uncharged (an oracle's, a simulated method's), and noise that the spec's seed repeats, which
// anybody can subtract. Of a private selection the reported run is what it releases; the losing runs' are never asked about.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace hyfreedp::results {

// Empty: they are a release at the row's epsilon, or of public data. Else why not: "its learning rate was chosen ...".
// `label` as in StudyRecord, `trial_config` as the store has it.
std::string why_weights_are_confidential(const std::string& label, const json::object& trial_config);

}  // namespace hyfreedp::results
