// Typed reading of SpecRecord::resolved (its shape is in harness/runner/plan.h). A member that is missing
// reads as empty; a row without its own seeds or epsilons has its panel's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/store.h"

namespace hyfreedp::results {

struct RowView {
  std::string id;
  std::string method;
  std::string title;
  std::string label;
  std::vector<std::int64_t> seeds;
  std::vector<std::optional<double>> epsilons;  // absent: "inf", the non-private arm
  std::vector<std::string> footnotes;
};

struct PanelView {
  std::string id;
  std::string title;
  std::string settings;  // one line: N, T, q, clipping, model's dimension
  double delta = 0;
  std::int64_t steps = 0;
  std::vector<std::optional<double>> epsilons;
  std::vector<std::string> footnotes;
  std::vector<RowView> rows;
};

struct SpecView {
  std::string title;
  std::string description;
  bool seeded_noise = false;
  std::vector<PanelView> panels;
};

SpecView view_of(const SpecRecord& spec);

}  // namespace hyfreedp::results
