// Extracts of the database, as JSON for comparison and for other programs, as CSV for a person's
// notebook.
#pragma once

#include <string>
#include <vector>

#include "results/store.h"

namespace hyfreedp::results {

struct ExportOptions {
  // Seconds, attempts, fingerprints and builds: what may differ between two runs of a seeded spec.
  bool times = false;
  bool confidential =
      false;  // un-released metrics and, of private selection, the losing runs; adds a watermark
};

// Canonical JSON, one line for each study in a fixed order: the row, the metrics of its reported
// run and the hash of that run's last step. Without times, two runs of one seeded spec give the
// same bytes.
Result<std::string> export_rows(const Store& store, const std::string& spec, const ExportOptions& options);

struct ValueOptions {
  // also the scalars of every step (step sizes, losses along the step, ...)
  bool steps = false;
  // also un-released metrics of the reported runs; adds a column `watermark`
  bool confidential = false;
};

// CSV (RFC 4180) in long form, one number a line, in a fixed order:
//   spec, panel, row, epsilon, seed, step, metric, value
// epsilon: the column's target, `inf` where nothing is private. step: after how many steps, empty
// where the value is of the study. metric: "test_accuracy_percent", "test_loss", ... of the run
// that the row reports; "epsilon_spent" and
// "epsilon_claimed"; "open" and "failed.KIND", with value 1, of a seed that has no result. With
// `steps` also the names of step scalars, which are left out where they are not releases
// (released_scalars.h). Values have 15 significant digits (csv_number), epsilons all of theirs.
// Only the reported run's values are here, so the number of runs of a private selection does not
// show.
Result<std::string> export_values(const Store& store, const std::string& spec, const ValueOptions& options);

// An error, with the reason, unless a row reports the trial or lists it where the number of runs is
// public. A losing run of a private selection is confidential, and so is a run that no row speaks
// for: it may be one.
Result<void> check_releasable(const Store& store, const std::string& trial);

// The executed events of a trial in the form that `hyfreedp epsilon --events` reads; without
// `confidential` only if check_releasable() allows it.
Result<json::value> export_events(const Store& store, const std::string& trial, bool confidential);

}  // namespace hyfreedp::results
