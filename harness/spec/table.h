// The `table` of a spec or panel: what is given, and nothing else.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "harness/base/describe.h"

namespace hyfreedp::spec {

enum class Metric { accuracy, loss, seconds };
enum class FoldedGroups { all, median, max };
enum class IntervalKind { none, t, bootstrap };
BOOST_DESCRIBE_ENUM(Metric, accuracy, loss, seconds)
BOOST_DESCRIBE_ENUM(FoldedGroups, all, median, max)
BOOST_DESCRIBE_ENUM(IntervalKind, none, t, bootstrap)

// Ids of the rows that are 0 % and 100 %.
struct Rerr {
  std::string random;
  std::string oracle;
};
BOOST_DESCRIBE_STRUCT(Rerr, (), (random, oracle))

// The members' meaning is in the help texts of results/table/table_options.cpp.
struct Table {
  std::optional<Metric> metric;
  std::optional<std::string> relative_to;
  std::optional<FoldedGroups> groups;
  std::optional<std::int64_t> last_checkpoints;
  std::optional<IntervalKind> interval;
  std::optional<bool> ranks;
  std::optional<bool> mdd;
  std::optional<bool> oracle_beaten;
  std::optional<bool> paper;
  std::optional<double> paper_tolerance;
  std::optional<Rerr> rerr;

  static constexpr bool kLeftOut = true;
};
BOOST_DESCRIBE_STRUCT(Table, (),
                      (metric, relative_to, groups, last_checkpoints, interval, ranks, mdd, oracle_beaten,
                       paper, paper_tolerance, rerr))

// What `above` says, and where it says nothing, what `below` does.
Table laid_over(Table above, const Table& below);

}  // namespace hyfreedp::spec
