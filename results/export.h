// Extracts of the database as JSON, for comparison and for other programs.
#pragma once

#include <string>
#include <vector>

#include "results/store.h"

namespace hyfreedp::results {

struct ExportOptions {
  bool times =
      false;  // seconds, attempts and fingerprints: what may differ between two runs of a seeded spec
  bool confidential =
      false;  // un-released metrics and, of private selection, the losing runs; adds a watermark
};

// Canonical JSON, one line a study in a fixed order: the row, the metrics of its reported run and the hash of that run's
// last step. Without times, two runs of one seeded spec give the same bytes.
Result<std::string> export_rows(const Store& store, const std::string& spec, const ExportOptions& options);

// An error, with the reason, unless a row reports the trial or lists it where the number of runs is public. A losing run
// of a private selection is confidential, and so is a run that no row speaks for: it may be one.
Result<void> check_releasable(const Store& store, const std::string& trial);

// The executed events of a trial, as `hyfreedp epsilon --events` reads them; without `confidential` only of a trial that
// check_releasable() lets pass.
Result<json::value> export_events(const Store& store, const std::string& trial, bool confidential);

}  // namespace hyfreedp::results
