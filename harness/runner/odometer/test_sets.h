// No record is for training in one run of an output folder and a test record in another: the
// accuracy on `ood_test` is printed without noise, and the odometer does not count it.
#pragma once

#include "harness/runner/odometer/out_folder.h"
#include "harness/spec/spec.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// Holds the spec and all that ever ran in the folder together: what either trains on, unless it is
// public, and the `ood_test` of either. The error names a test set that may have records of the
// other (datasets::may_share_records). Single records are not compared, which would tell whether
// somebody's is among them.
Result<void> check_test_sets(const results::Store& store, const OutFolder& out, const spec::Spec& spec);

}  // namespace hyfreedp::runner
