// A limit on the odometer: nothing is started that would take a dataset beyond it.
//
// What is counted is what would be booked, not what will be executed: each run to its last step, each private selection as a
// whole before its first run, and a run that was interrupted as if it began anew, since on another machine it must. So the
// odometer never passes the limit, and may stay below it. (One exception: a worker whose replay is not reproduced begins
// anew on its own; the budget hears of that at the next start of `hyfreedp run`.)
//
// A run without privacy, or one that hands un-noised validation scores to its method, has no epsilon: under a limit it is
// refused, and so is everything on data that such a run has touched already.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/runner/odometer.h"
#include "harness/runner/plan.h"

namespace hyfreedp::runner {

struct Cap {
  double epsilon = 0;
  std::optional<double> delta;  // absent: N^-1.1 of each dataset
};

// One dataset before a spec runs, and when all that it starts with is done.
struct Forecast {
  std::string dataset;  // title
  double delta = 0;
  double now = 0;  // of the private part
  double then = 0;
  bool now_infinite = false;
  bool then_infinite = false;
};

class Budget {
 public:
  // `cap` absent: nothing is refused; forecast() still tells.
  static Result<Budget> open(const results::Store& store, const OutFolder& out, std::optional<Cap> cap);

  // What studies that have no row yet start with: their first runs, or the whole of a private selection. An error, which
  // says how much there is, how much is needed and the limit, where that is too much.
  Result<void> reserve(const std::vector<PlannedStudy>& studies);
  // What a study asks for on its way. Runs that are over, were reserved or admitted cost nothing again.
  Result<void> admit(const baselines::Baseline& baseline, const std::vector<trial::TrialConfig>& wishes);

  // Of the datasets that anything was reserved on.
  Result<std::vector<Forecast>> forecast(std::optional<double> delta) const;

 private:
  Budget(const results::Store& store, OutFolder out, Odometer now, Odometer then, std::optional<Cap> cap)
      : store_(&store), out_(std::move(out)), now_(std::move(now)), then_(std::move(then)), cap_(cap) {}
  Result<void> check(const Odometer& wanted, const std::set<std::string>& datasets) const;

  const results::Store* store_;
  OutFolder out_;
  Odometer now_;   // what was released when this was opened
  Odometer then_;  // and what may still be, of all that was admitted
  std::optional<Cap> cap_;
  std::set<std::string> admitted_;  // runs
  std::set<std::string> touched_;   // datasets, by title
};

// Whether the method's runs are reserved as a selection, before any of them is known.
bool is_reserved_as_selection(const baselines::Baseline& baseline);

}  // namespace hyfreedp::runner
