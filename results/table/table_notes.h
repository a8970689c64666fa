// The sentences beneath a table: what a flag means, and how to read the numbers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/table/table_model.h"

namespace hyfreedp::results {

// The flag with its explanation where one is known: "paper accounting: epsilon understated. ..."
std::string explain_flag(const std::string& flag);
bool has_explanation(const std::string& flag);
// The same for what a rule says of a run that finished ("stuck at d0").
std::string explain_outcome(const std::string& outcome);

// Footnote of a row on which several builds of the program worked.
std::string mixed_builds_note(const std::set<trial::Build>& builds);

inline constexpr const char* kReproducibleNoise = "reproducible noise: not a private release";

// The facts on which general notes depend.
struct NoteFacts {
  std::set<std::string> accountants;  // that gave a reported epsilon
  // Titles of the rows whose noise was calibrated, by the accountant that set it; of "" it was not
  // recorded.
  std::map<std::string, std::set<std::string>> noise_accountants;
  std::set<std::string> samplers;  // of the reported private runs
  bool single_seed = false;        // some cell has n = 1
  bool not_planned = false;        // some cell is "n/a"
  bool best = false;               // some cell is marked
  bool missing_seeds = false;      // some cell has a value, but not of each planned seed
  std::set<std::string> groups;    // whose rows stand one by one
  bool hidden_run_count = false;   // some row's time is that of the reported run alone
  bool has_private = false;
  bool has_memory = false;             // of some run it is recorded
  bool has_own_test = false;           // some panel is tested on a user's own records
  std::vector<std::string> ood_tests;  // "stl10: 7200 records of stl10"
  std::set<std::string> overlaps;      // sentences of datasets/notes/weights_notes.h
  // Titles of rows with a private value, by label and rule of composition.
  std::map<std::string, std::map<std::string, std::set<std::string>>> rules;
  std::map<std::string, std::vector<std::string>> splits;  // sizes -> titles of panels
  std::map<std::string, std::set<std::string>> builds;     // of the program -> titles of rows
};
std::vector<std::string> general_notes(const TableModel& table, const NoteFacts& facts);

}  // namespace hyfreedp::results
