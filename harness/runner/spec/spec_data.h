// Reads the data that a panel of a spec trains and tests on, and its network.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "datasets/facts.h"
#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {

// Each part where it could be read.
struct PanelData {
  std::optional<spec::Named> dataset;
  std::vector<trial::OodTest> ood_test;
  std::optional<spec::Named> model;
  std::optional<datasets::Sizes> sizes;
  std::optional<std::int64_t> dimension;
};

// Reads `dataset`, `ood_test` and `model`, with the user's own files and weights that they name,
// and adds what is wrong to `problems`. Weights are held to the network, and the classes of a head
// that they bring to the dataset's.
PanelData read_data_and_model(const Layers& layers, Problems& problems);

// Warns of the weights that training begins with, and of those that make the features: what they
// were trained on, and how. The panel could be read; `entry` is its entry.
void warn_of_weights(const Layers& layers, const Entry& entry, const PanelData& panel, Problems& problems);

}  // namespace hyfreedp::runner
