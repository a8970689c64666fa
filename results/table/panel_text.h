// The text above a panel's rows: settings, splits, test sets, and notes on weights. All of it is
// from the spec and the public facts of its datasets. Called by table_model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/spec/spec.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::results {

// True if it is tested on records of a user's own files.
bool has_own_test(const spec::Panel& panel);
bool has_own_records(const trial::OodTest& shifted);

// "50000 private training, 10000 public test records"
std::string split_of(const spec::Panel& panel);

// "N = 50000, d = 7850, T = 250, q = 0.02, δ = 6.778e-06", of those that the spec has.
std::string settings_line(const spec::Panel& panel);

// "optimizer adamw (Prodigy: prodigy; Linear scaling, DPSGD: sgd)": the panel's, and the rows that
// ran with another. `rows`: titles and names of optimizers, in the table's order. Empty where no
// name is known.
std::string optimizers_text(const std::string& usual,
                            const std::vector<std::pair<std::string, std::string>>& rows);

// "stl10: 7200 records of stl10"
std::string ood_test_text(const trial::OodTest& shifted);

// Notes on the weights that training begins with and on those that make the features: sentences.
std::vector<std::string> overlap_notes(const spec::Panel& panel);

}  // namespace hyfreedp::results
