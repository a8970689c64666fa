// The ledger: for each private cell, the executed events and their price. It is shown in the report
// and by `hyfreedp table NAME --ledger`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/store/store.h"
#include "results/table/table_model.h"

namespace hyfreedp::results {

struct LedgerLine {
  std::string panel;  // titles
  std::string title;
  double target = 0;
  std::string composition;  // "the reported run", "all runs in sequence", "private selection"
  // The events that the total pays for, including the runs of a search: "7 runs: 350 × full batch:
  // σ = 40.1; 250 × Poisson q = 0.02: σ = 1.493". For a private selection: the distribution of its
  // number of runs and one run's events. Runs of a search that is not charged are listed
  // separately.
  std::string events;
  accounting::ReportedEpsilon total;
  std::optional<double> training;  // of the reported run alone
  std::string sampler;             // of the reported run
  std::string label;               // "end-to-end DP", "oracle", ...
  std::vector<std::string> flags;

  // The cost of finding the reported run: total - training, at least 0. It is not a guarantee by
  // itself.
  std::optional<double> tuning() const;
};

// One line for each private cell with a value, from the seed that spent most.
Result<std::vector<LedgerLine>> ledger_lines(const Store& store, const TableModel& table);

// Writes a text table with one line for each cell: training, tuning and total epsilon, delta, PLD
// and RDP bounds, sampler, label.
std::string ledger_text(const TableModel& table, const std::vector<LedgerLine>& lines);

// True if runs of the study may have released something that no total of it pays for yet: it is
// open, or it ended without a conclusion, because a run was lost. `hyfreedp odometer` counts them.
Result<bool> has_unpriced_runs(const Store& store, const StudyRecord& study);

// Events in words; equal ones are merged.
std::string describe_events(const std::vector<accounting::Event>& events);

// The distinct fingerprints of the reported trials, as "device cpu, threads 1, ...".
Result<std::vector<std::string>> fingerprints(const Store& store, const TableModel& table);

}  // namespace hyfreedp::results
