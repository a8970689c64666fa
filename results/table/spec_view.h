// Typed reading of SpecRecord::resolved (its shape is in harness/runner/spec/plan.h). A missing
// member reads as empty; a row without its own seeds or epsilons has its panel's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/store/store.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {

struct RowView {
  std::string id;
  std::string method;
  std::string title;
  std::string label;
  std::vector<std::int64_t> seeds;
  std::vector<std::optional<double>> epsilons;  // absent: "inf", the non-private arm
  std::vector<std::string> footnotes;
  std::string group;
  std::map<std::optional<double>, PaperValue> paper;  // by epsilon
  std::string optimizer;  // asked for; the method may have its own, which its runs' configs say
};

struct PanelView {
  std::string id;
  std::string title;
  std::string settings;   // one line: N, T, q, δ, model's dimension
  std::string optimizer;  // its name; may be empty
  double delta = 0;
  std::int64_t steps = 0;
  std::vector<std::optional<double>> epsilons;
  std::vector<std::string> footnotes;
  std::vector<RowView> rows;
  std::int64_t population = 0, validation = 0, test = 0;  // records of the splits
  json::object table;                                     // as given; empty: nothing was
};

struct SpecView {
  std::string title;
  std::string description;
  bool seeded_noise = false;
  std::string preset;       // may be empty
  bool reproduces = false;  // a table or figure of a paper
  json::object table;       // as given, for all panels
  std::vector<PanelView> panels;
};

SpecView view_of(const SpecRecord& spec);

}  // namespace hyfreedp::results
