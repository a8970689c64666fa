// Makes one training run with an observer, in the way a worker makes it: by the trainer, with its
// own key and journal.
#pragma once

#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/mechanism/release/observer.h"
#include "harness/training/audit/experiment.h"
#include "harness/training/parts.h"

namespace hyfreedp::training {

// Runs the experiment and returns the events that the journal charges. Each run of an audit has
// another `repetition`, and therefore its own key and journal. Returns an error if the run did not
// finish. `folder`: for its journal and key.
Result<std::vector<accounting::Event>> run_under(mechanism::Observer& observer, const Experiment& experiment,
                                                 std::int64_t repetition, const ScratchFolder& folder,
                                                 const Parts& parts = {});

}  // namespace hyfreedp::training
