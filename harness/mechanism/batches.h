// Chooses the rows of the private training split that are in a batch, from keyed streams. A batch
// is a function of (key, step, attempt) alone, so a resumed or repeated run draws the same batches.
//   poisson      each row independently with probability q; the realised size varies and can be 0
//   full_batch   every row, in order
//   shuffle      non-private rows only: consecutive round(B) rows of one random order per epoch;
//                the remainder is dropped
// The realised size is confidential and is never used as a divisor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/random/stream.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::mechanism {

// The rows of a batch, as indices into the split.
struct Rows {
  std::string batch;  // which of the step's batches this is (releases.h)
  std::int64_t count = 0;
  bool all = false;  // rows 0 .. count-1; `indices` is empty then
  std::vector<std::int64_t> indices;
};

// The rows of the gradient's batch at `step`.
Rows gradient_rows(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                   std::int64_t attempt);
// The rows of a probe that has a batch of its own.
Rows probe_rows(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                std::int64_t attempt);

// The stream's address for step `step` of attempt `attempt`.
random::Address address_of(random::Purpose purpose, std::int64_t step, std::int64_t attempt);

}  // namespace hyfreedp::mechanism
