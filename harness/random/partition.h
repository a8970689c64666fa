// Data divided in two by coins: record i is in the part "tuning" with probability `rate`, each by itself, else in the part
// "rest". The coins come from a public key and depend on no data, so it is known beforehand which part a record is in, and
// what is done on one part composes in parallel with what is done on the other. The neighbour of a data set has one place
// emptied: places, N and the sizes of splits are public, so that no other record changes its part.
//
// A run on a part says so in its dataset's options: `part` (tuning | rest), `part_rate` in (0, 1) and `part_key`. A method
// sets them (baselines/subset_tuning.h); no spec can. Empty parts are possible: the caller looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace hyfreedp::random {

inline constexpr const char* kTuningPart = "tuning";
inline constexpr const char* kRestPart = "rest";

struct Part {
  std::string name;
  double rate = 0;
  std::string key;

  // The parts of one partition have these in common.
  bool is_beside(const Part& other) const { return rate == other.rate && key == other.key; }
};

// The part that a dataset's options name; none where they name none.
Result<std::optional<Part>> part_of(const json::object& options);
json::object with_part(json::object options, const Part& part);
json::object without_part(json::object options);

// The sorted indices in [0, population) of the records that the part has.
std::vector<std::int64_t> part_indices(const Part& part, std::int64_t population);

}  // namespace hyfreedp::random
