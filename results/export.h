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

// The executed events of a trial, as `hyfreedp epsilon --events` reads them. Losing runs of a private selection are
// confidential.
Result<json::value> export_events(const Store& store, const std::string& trial, bool confidential);

}  // namespace hyfreedp::results
