// Which rows of the private training split a batch holds, from keyed streams: a function of (key, step, attempt)
// alone, so that a resumed or repeated run draws the same batches.
//   poisson      each row independently with probability q; the realised size varies, 0 included
//   full_batch   every row, in order
//   shuffle      non-private rows only: consecutive round(B) rows of one random order per epoch, the remainder dropped
// The realised size is confidential and never a divisor.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/random/stream.h"
#include "harness/trial/privacy_plan.h"

namespace hyfreedp::training {

struct Rows {
  std::int64_t count = 0;
  bool all = false;  // rows 0 .. count-1; `indices` is empty then
  std::vector<std::int64_t> indices;
};

Rows gradient_rows(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                   std::int64_t attempt);
// Of a probe with a batch of its own.
Rows probe_rows(const trial::PrivacyPlan& plan, const random::Key& key, std::int64_t step,
                std::int64_t attempt);

// The stream's address for step `step` of attempt `attempt`.
random::Address address_of(random::Purpose purpose, std::int64_t step, std::int64_t attempt);

}  // namespace hyfreedp::training
