// Test sets of a spec (`ood_test`) that may have records which it trains on.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::runner {

// An error where the test set may have private records of the data `trained`
// (datasets::may_share_records). `where` that is: "this panel".
Result<void> check_no_record_is_in_both(const trial::OodTest& test, const trial::Named& trained,
                                        const std::string& where);

}  // namespace hyfreedp::runner
