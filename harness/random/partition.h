// A division of the data into two parts by coins: record i is in the part "tuning" with probability
// `rate`, independently of the others, and in the part "rest" if not. The coins come from a public
// key and do not depend on the data, so the part of each record is known beforehand, and work on
// one part composes in parallel with work on the other. A neighbouring data set has one place
// emptied: the places, N and the sizes of splits are public, so that no other record changes its
// part.
//
// A run on a part names it in its dataset's options: `part` (tuning | rest), `part_rate` in (0, 1)
// and `part_key`. A method sets these (baselines/subset_tuning.h); a spec cannot. A part can be
// empty, which the caller must check.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/describe.h"

namespace hyfreedp::random {

inline constexpr const char* kTuningPart = "tuning";
inline constexpr const char* kRestPart = "rest";

inline constexpr const char* kPart = "part";  // the option that names it

struct Part {
  std::string name;
  double rate = 0;
  std::string key;

  // Whether both are parts of one partition.
  bool is_beside(const Part& other) const { return rate == other.rate && key == other.key; }
  static constexpr std::array kNames = {description::Name{"name", kPart},
                                        description::Name{"rate", "part_rate"},
                                        description::Name{"key", "part_key"}};
};
BOOST_DESCRIBE_STRUCT(Part, (), (name, rate, key))

// The part that a dataset's options name, or nothing. An error where an option is missing or out of
// range.
Result<std::optional<Part>> part_of(const json::object& options);
json::object with_part(json::object options, const Part& part);
json::object without_part(json::object options);

// The sorted indices in [0, population) of the records in the part.
std::vector<std::int64_t> part_indices(const Part& part, std::int64_t population);

}  // namespace hyfreedp::random
