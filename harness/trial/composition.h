// How the executed events of runs make up the cost of a row: the method's own statement, which the
// runner stores with the row, and with what it books before runs begin.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/accounting/event.h"
#include "harness/base/describe.h"
#include "harness/trial/event_tally.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::trial {

struct Composition {
  enum class Rule {
    none,       // nothing private was touched (non-private arm)
    trial,      // the reported run alone
    sum,        // every listed run, in sequence
    selection,  // private selection over runs like trials[0]; only the best is released
  };
  BOOST_DESCRIBE_NESTED_ENUM(Rule, none, trial, sum, selection)
  // Absent: of a row that is open, or was lost before its conclusion, and has booked nothing. Its
  // JSON is then empty.
  std::optional<Rule> rule = {};
  std::vector<std::string> trials = {};  // ids
  // Rule sum: the part of the training split that each trial ran on (harness/random/partition.h);
  // all are parts of one partition. Empty: every trial ran on all of it. A record is in one part,
  // so the price is the largest over parts; the runner checks that each run's dataset names the
  // same part. This holds for this price alone: everywhere else a run on a part counts as one on
  // the whole split.
  std::map<std::string, std::string> parts = {};
  // Rule sum, of a search that ended early because none of its runs could be reported: what it
  // would have executed further, and on which part of the training split
  // (as `parts`; empty: all of it). Where it ended follows from private data, so all that was
  // planned is charged, as of a run that diverged. `trial`: which run it is, where that is known;
  // if the folder has that run, what it executed is charged instead. `attempt`: the name of an
  // attempt at that run, which is charged beside the run's others
  // (harness/runner/odometer/charge.h).
  struct NotBegun {
    std::vector<accounting::Event> events;
    std::string part = {};
    std::string trial = {};
    std::string attempt = {};
  };
  std::vector<NotBegun> not_begun = {};
  // Rule selection: distribution, eta, mean. Its base is empty where runs are listed, whose events
  // it then is; otherwise the selection is open, or drew no run, and the base is what each of its
  // runs is to execute. Absent: nothing is booked yet.
  std::optional<accounting::Selection> selection = {};
  // Rule selection, concluded: the drawn number of runs was 0. That nothing came out is the
  // mechanism's output, so it costs what any other does: that of `selection` with its base.
  bool drew_no_run = false;
  // Rule selection: the release of its runs (harness/runner/odometer/release.h). Others that are
  // like them are another selection's. Absent in older records.
  std::optional<std::int64_t> release = {};
  // Rule selection: names the booking, which is drawn when it is made (with a noise seed: follows
  // from it), and, once it is concluded, is a checksum over its runs' attempts. Of two copies of a
  // folder that went on with one booking the attempts differ. Both are empty in older records.
  std::string booking = {};
  std::string attempts = {};
  // Rule selection, of a row that was rebuilt from its release record
  // (harness/runner/odometer/release_record.h), which does not say which runs there were: what the
  // dearest of them executed, and what each was to execute.
  struct Unlisted {
    std::vector<accounting::Event> executed;
    std::vector<accounting::Event> planned;
  };
  std::optional<Unlisted> unlisted = {};
  // The data that it is about, where it lists no run, or not all. Written within `unlisted`, where
  // that is.
  std::optional<Named> dataset = {};
  // A private selection's booking, or that of a seed, that counts before any of its runs has begun.
  bool booked_ahead = false;
  // The seed of a private selection that is a row no more; absent in older records.
  std::optional<std::int64_t> seed = {};

  bool is_selection() const { return rule == Rule::selection; }
  // True if the number of runs may be shown: that of a private selection is confidential, and so is
  // that of a row of which nothing is known yet.
  bool shows_run_count() const { return rule.has_value() && !is_selection(); }

  json::object to_json() const;
  // Errors begin with `where`.
  static Result<Composition> from_json(const json::object& object, const std::string& where);
  // As they are written.
  bool operator==(const Composition& other) const { return to_json() == other.to_json(); }
};

// shows_run_count() in SQL; `composition` is a column of JSON.
std::string shows_run_count_sql(const std::string& composition);

// Makes events on the training split events on that part of it (Composition::parts); of all of it
// where `part` is empty.
void tell_part(const std::string& part, std::vector<accounting::Event>& events);

// The events of a composition, from each trial's executed events. `runs` are all runs of a
// selection, if the caller knows them; the base is then the costliest of them
// (EventTally::raise_to), because a run that was restarted on another machine executed more
// than the reported one. Other rules ignore `runs`. An error if a trial's events are not known.
Result<accounting::Events> compose(
    const Composition& composition,
    const std::function<Result<std::vector<accounting::Event>>(const std::string& id)>& executed,
    std::span<const std::string> runs = {});

// What is booked of runs that had not begun.
EventTally booked_of(const Composition& composition);

// A selection's events, base included, priced on each split that the base reads: its runs touch
// disjoint splits in parallel, and the guarantee is the largest over splits (event.h).
std::vector<accounting::Event> selection_by_split(const accounting::Selection& selection);

}  // namespace hyfreedp::trial
