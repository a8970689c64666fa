// Test records of a spec, of `ood_test` and of its panels' own data, that it may train on.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::runner {

// An error where the test set may have private records of the data `trained`
// (datasets::may_share_records). `where` that is: "this panel".
Result<void> check_no_record_is_in_both(const trial::OodTest& test, const trial::Named& trained,
                                        const std::string& where);
// The same of the test split of the data `tested`, which another panel trains on and tests with.
Result<void> check_no_test_record_is_trained_on(const trial::Named& tested, const trial::Named& trained,
                                                const std::string& where);

}  // namespace hyfreedp::runner
