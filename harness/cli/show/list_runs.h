// `hyfreedp list runs`: the studies of an output folder, and those of their runs that may be shown.
#pragma once

#include <ostream>
#include <string>

#include "harness/cli/common/study_choice.h"

namespace hyfreedp::cli {

struct RunsRequest {
  StudyChoice choice;           // an empty spec: all of the folder
  std::string state;            // "open", "failed", "cancelled", ...; empty: any
  std::string tag;              // empty: any
  std::string format = "text";  // or "jsonl"
};

// Prints one line for each run, and one for each study that has none to show.
Outcome list_runs(const RunsRequest& request, std::ostream& out);

}  // namespace hyfreedp::cli
