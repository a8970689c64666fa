// A limit on the odometer: nothing is started that would take a dataset beyond it.
//
// The budget counts what would be booked and not what will be executed: each run to its last step,
// each private selection as a whole before its first run, and an interrupted run as if it were
// started again, because on another machine it must be. So the odometer never exceeds the limit,
// and may stay below it. (One exception: a worker whose replay is not reproduced starts again by
// itself; the budget learns of this at the next `hyfreedp run`.)
//
// A method that searches in several rounds also reserves the rounds after the first: it reserves
// what it is charged if none of its first runs can be reported (Composition::not_begun).
// A further round takes the place of what was reserved for it.
//
// If a comparison decides how many seeds are trained (spec::SequentialSeeds), all of them are
// reserved. Where the method searches in several rounds, a seed that is not needed or is cancelled
// is charged as the dearest of its row that was trained, which may be more than its own first
// round: each seed that the comparison decides of is reserved at the price of the dearest that has
// begun, or begins in any case, and a run that raises this price is admitted with what it raises.
//
// A run without privacy, or one that passes un-noised validation scores to its method, has no
// epsilon. Under a limit it is refused, and so is everything on data that such a run has touched.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/runner/odometer/odometer.h"
#include "harness/runner/spec/plan.h"
#include "harness/trial/event_tally.h"

namespace hyfreedp::runner {

struct Cap {
  double epsilon = 0;
  std::optional<double> delta;  // absent: N^-1.1 of each dataset
};

// The odometer of one dataset before a spec runs, and after all that it starts with.
struct Forecast {
  std::string dataset;  // title of the data
  double delta = 0;
  double now = 0;  // of the private part
  double then = 0;
  bool now_infinite = false;
  bool then_infinite = false;
};

class Budget {
 public:
  // `cap` absent: nothing is refused, and forecast() still works.
  static Result<Budget> open(const results::Store& store, const OutFolder& out, std::optional<Cap> cap);

  // Reserves what the studies without a row start with: their first runs with the rounds that are
  // charged after them, or the whole of a private selection. If that exceeds the limit, the error
  // gives what was spent, what is needed and the limit.
  Result<void> reserve(const std::vector<PlannedStudy>& studies);
  // Takes back what was reserved and reserves this in its place: the same studies, once they draw
  // from their key, so that what they ask for is what is reserved.
  Result<void> reserve_instead(const std::vector<PlannedStudy>& studies);
  // Admits the further runs that a study asks for. Runs that are over, reserved or admitted already
  // cost nothing again.
  Result<void> admit(const PlannedStudy& study, const std::vector<trial::TrialConfig>& wishes);

  // The forecast for each dataset on which anything was reserved.
  Result<std::vector<Forecast>> forecast(std::optional<double> delta) const;

 private:
  Budget(const results::Store& store, OutFolder out, Odometer now, Odometer then, std::optional<Cap> cap)
      : store_(&store),
        out_(std::move(out)),
        now_(std::move(now)),
        opened_(then),
        then_(std::move(then)),
        cap_(cap) {}
  // The runs that a study may be charged after its first ones.
  struct Rest {
    trial::Named dataset;
    std::vector<std::vector<accounting::Event>> runs;
  };
  using Rests = std::map<std::string, Rest>;
  // A row of whose seeds a comparison decides, and whose method searches in several rounds.
  struct ComparedRow {
    struct Seed {
      std::set<std::string> runs;  // that it asks for
      trial::EventTally planned;   // of these
      bool is_sure = false;        // trained whatever the comparison says
      bool has_begun = false;
    };
    trial::Named dataset;
    trial::EventTally dearest;          // of the seeds that have begun or are sure
    std::map<std::string, Seed> seeds;  // without an answer, by study
  };
  using ComparedRows = std::map<std::string, ComparedRow>;
  // What is reserved beside whole runs.
  struct Reserved {
    Rests rests;
    ComparedRows rows;
  };

  void add_rest(const PlannedStudy& study, const std::vector<trial::TrialConfig>& first,
                const results::StudyRecord* recorded, Rests& rests) const;
  // Adds the study's seed to its row, and what earlier seeds of the row cost.
  Result<void> add_seed(const PlannedStudy& study, const results::StudyRecord* recorded,
                        ComparedRows& rows) const;
  static void add_run(const PlannedStudy& study, const std::string& id, const trial::TrialConfig& config,
                      ComparedRows& rows);
  Result<void> drop_answered(std::map<std::string, ComparedRow::Seed>& seeds) const;
  static Odometer with_reserved(Odometer odometer, const Reserved& reserved);
  // `wanted` has whole runs alone.
  Result<void> check(const Odometer& wanted, const Reserved& reserved,
                     const std::set<std::string>& datasets) const;

  const results::Store* store_;
  OutFolder out_;
  Odometer now_;     // what was released when this was opened
  Odometer opened_;  // and what may still be, before anything was reserved
  Odometer then_;    // and what may still be, of the whole runs that were admitted
  Reserved reserved_;
  std::optional<Cap> cap_;
  std::unordered_set<std::string> admitted_;  // runs
  std::set<std::string> touched_;             // names of data
};

// True if the method's runs are reserved as one selection, before any of them is known.
bool is_reserved_as_selection(const baselines::Baseline& baseline);

}  // namespace hyfreedp::runner
