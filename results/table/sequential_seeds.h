// Decides when a panel whose seeds are trained until a comparison is decided (`seeds: {until:
// ...}`) has enough of them.
//
// Each column of the panel is decided by itself: by the differences of the two rows' test
// accuracies, in percentage points, paired by seed. After `from` seeds, and after each further one,
// the interval of their mean (anytime_interval.h) is looked at. It holds at all looks together, so
// stopping at one of them does not spoil it. A seed that failed in either row has no difference and
// is left out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/spec/spec.h"
#include "results/store/store.h"
#include "results/table/statistics.h"

namespace hyfreedp::results {

// One look at a comparison.
struct SeedLook {
  std::int64_t seeds = 0;            // looked at
  std::vector<double> differences;   // by seed
  std::optional<Interval> interval;  // percentage points
  bool excludes_zero = false;        // and the rule is content with that
  bool is_narrow = false;

  bool is_decided() const { return excludes_zero || is_narrow; }
};
SeedLook look_at(const spec::SequentialSeeds& rule, std::int64_t seeds, std::vector<double> differences);

// The studies of a column that the rule compares, by row and seed.
class ComparedSeeds {
 public:
  ComparedSeeds(const Store& store, const spec::SequentialSeeds& rule) : store_(store), rule_(rule) {}
  // Studies of other rows are passed over.
  void add(const StudyRecord& study);
  // True if both rows have an answer for each of the first `seeds` seeds, or were stopped before.
  bool can_look(std::int64_t seeds) const;
  // The look at the first `seeds` seeds, less those that were not needed.
  Result<SeedLook> look(std::int64_t seeds) const;
  // The number of first seeds that both rows have, without a gap and without those that were not
  // needed.
  std::int64_t known() const;
  bool has_stopped() const;

 private:
  const Store& store_;
  const spec::SequentialSeeds& rule_;
  std::map<std::int64_t, StudyRecord> first_, second_;
};

// True if the row has the column. In a column that the compared rows do not have, nothing is
// decided, and `from` seeds are trained.
bool has_column(const spec::Row& row, const std::optional<double>& epsilon);

// For the table: how many seeds each column took, and why. `studies` are those of the panel.
Result<std::vector<std::string>> sequential_notes(const Store& store, const spec::Panel& panel,
                                                  const std::vector<const StudyRecord*>& studies);

}  // namespace hyfreedp::results
