// The mechanism's view of a run's journal (journal.h): a release is booked on disk before it is
// used, and recorded once it was made.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "harness/trial/run_records.h"

namespace hyfreedp::mechanism {

class Bookings {
 public:
  virtual ~Bookings() = default;
  // The number of the run's attempt, which is part of every address of its noise.
  virtual std::int64_t attempt() const = 0;
  // Returns once step `step` is booked and synced. Does nothing in a non-private run.
  virtual Result<void> ensure_booked(std::int64_t step) = 0;
  // Books a noised score of `split`, with its noise multiplier > 0; synced. Does nothing if this
  // attempt booked the same before.
  virtual Result<void> book_score(double noise_multiplier, const std::string& split) = 0;
  // The hash that a repeated step must reproduce, if an earlier run of this attempt recorded one.
  virtual std::optional<std::string> expected_hash(std::int64_t step) const = 0;
  // Records an executed step, at which (for step 0: or before it) the purposes `made` were
  // released; not synced.
  virtual Result<void> step(const trial::StepRecord& record, const std::set<std::string>& made) = 0;
};

}  // namespace hyfreedp::mechanism
