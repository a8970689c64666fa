// No record is for training in one run of an output folder and a test record in another, of
// `ood_test` or of the data that the run itself trains on: the accuracy on test records is printed
// without noise, and the odometer does not count it.
#pragma once

#include "harness/runner/odometer/out_folder.h"
#include "harness/spec/spec.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// Holds the spec's test sets to what it trains on and to what earlier runs of the folder trained
// on, and their test sets to what the spec trains on, unless it is public. The error names a test
// set that may have records of the training (datasets::may_share_records), or of which that is not
// known (may_share_unmarked_records), and whose it is. Earlier runs are not held to each other: the
// odometer says "at least" of these. Single records are not compared, which would tell whether
// somebody's is among them.
Result<void> check_test_sets(const results::Store& store, const OutFolder& out, const spec::Spec& spec);

}  // namespace hyfreedp::runner
