// Exports from the database: JSON for comparison and for other programs, CSV for spreadsheets and
// notebooks.
#pragma once

#include <string>
#include <vector>

#include "harness/base/describe.h"
#include "results/store/store.h"

namespace hyfreedp::results {

struct ExportOptions {
  // Seconds, attempts, fingerprints and builds: what may differ between two runs of a seeded spec.
  bool times = false;
  bool confidential =
      false;  // confidential metrics, and the losing runs of private selection; adds a watermark
};

// Canonical JSON, one line for each study in a fixed order: the row, the metrics of its reported
// run and the hash of that run's last step. Without times, two runs of one seeded spec give the
// same bytes.
Result<std::string> export_rows(const Store& store, const std::string& spec, const ExportOptions& options);

enum class ValueFormat { csv, jsonl };
BOOST_DESCRIBE_ENUM(ValueFormat, csv, jsonl)

struct ValueOptions {
  ValueFormat format = ValueFormat::csv;
  // also the scalars of every step (step sizes, losses along the step, ...)
  bool steps = false;
  // also confidential metrics of the reported runs; adds a column `watermark`
  bool confidential = false;
};

// Long form, one number a line, in a fixed order: CSV (RFC 4180), or JSON Lines, an object a line
// with these members:
//   spec, panel, row, epsilon, seed, step, metric, value
//   epsilon   the column's target; in a non-private column `inf`, in JSON null
//   step      the number of steps before the value; empty, in JSON null, if the value belongs to
//             the study
//   metric    "test_accuracy_percent", "test_loss", ... of the reported run; "epsilon_spent" and
//             "epsilon_claimed"; "open" or "failed.KIND", with value 1, for a seed without a
//             result. With `steps` also the names of step scalars, if they are releases
//             (released_scalars.h)
//   value     with 15 significant digits (csv_number); an epsilon with all its digits. Where it is
//             not finite: `nan`, `inf`, `-inf`, in JSON as strings
// Only values of the reported run are exported, so they do not reveal the number of runs of a
// private selection.
Result<std::string> export_values(const Store& store, const std::string& spec, const ValueOptions& options);

// Succeeds if a row reports the trial, or if a row lists it and its number of runs is public.
// Otherwise returns an error with the reason: a losing run of a private selection is confidential,
// and a run that no row lists may be one.
Result<void> check_releasable(const Store& store, const std::string& trial);

// The executed events of a trial in the form that `hyfreedp epsilon --events` reads; without
// `confidential` only if check_releasable() allows it.
Result<json::value> export_events(const Store& store, const std::string& trial, bool confidential);

}  // namespace hyfreedp::results
