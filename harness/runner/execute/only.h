// `hyfreedp run --only`: a part of a spec's studies.
//
//   panel=main,row=prodigy,epsilon=3    studies that are in all of these
//   row=prodigy,row=hyfreedp            of one key: in any of them
//   prodigy                             a value alone, where one key only has it
// Several of these together are the studies of any.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {

class Only {
 public:
  // All studies.
  Only() = default;
  // Reads which studies of `spec` `asked` names; all if it is empty. Keys: panel; row, by its id or
  // group; epsilon, a number or inf; noise_multiplier; seed. An error names what is no key, or no
  // value of it among the studies that the keys before it leave, and the values that are.
  static Result<Only> read(const std::vector<std::string>& asked, const Spec& spec);

  bool is_all() const { return !studies_; }
  // True if the cell's study is one of them, in any release of the spec.
  bool covers(const baselines::Cell& cell) const;

 private:
  using Place = std::tuple<std::string, std::string, std::optional<double>, std::int64_t>;
  static Place place_of(const baselines::Cell& cell);

  std::optional<std::set<Place>> studies_;
};

// The studies among `planned` that it covers.
std::vector<PlannedStudy> covered(std::vector<PlannedStudy> planned, const Only& only);
// The spec without panels and rows of which it covers no study: what such a run needs of data,
// devices and room. Studies that are left have the ids that they had.
Result<Spec> narrowed(const Spec& spec, const Only& only);

// An error where a run of the part would train some of the seeds of which a comparison decides how
// many there are (spec::SequentialSeeds), and leave out others: all that the spec allows are
// charged from the start, and such a run would be charged its own alone.
Result<void> check_seeds_are_whole(const Only& only, const Spec& spec);

}  // namespace hyfreedp::runner
