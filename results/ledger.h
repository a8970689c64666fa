// What the accountants priced for each private cell, and on which machines: the report's summary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/store.h"
#include "results/table_model.h"

namespace hyfreedp::results {

struct LedgerLine {
  std::string panel;  // titles
  std::string title;
  double target = 0;
  std::string composition;  // "the reported run", "all runs in sequence", "private selection"
  std::string events;       // of the reported run: "250 × Poisson q = 0.02, σ = 1.493"
  accounting::ReportedEpsilon total;
  std::optional<double> training;  // of the reported run alone
};

// One line a private cell that has a value: of the seed that spent most.
Result<std::vector<LedgerLine>> ledger_lines(const Store& store, const TableModel& table);

// Events in words, equal ones merged.
std::string describe_events(const std::vector<accounting::Event>& events);

// The distinct fingerprints of the reported trials, as "device cpu, threads 1, ...".
Result<std::vector<std::string>> fingerprints(const Store& store, const TableModel& table);

}  // namespace hyfreedp::results
