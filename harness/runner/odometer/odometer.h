// The odometer: the composed epsilon of all that the runs of an output folder have released about
// each dataset.
//
// A row's epsilon is that of one run of one method. Several rows, seeds, tables and abandoned
// attempts on the same data have all been released, and a record's guarantee is that of their
// composition.
//
//   Runs          Every trial of the database, whatever became of it and whether or not a row still
//                 lists it, and every journal that the database has not taken in. A run that is
//                 under way, or ended before its time, counts all that it was to release
//                 (charge.h). Where a run's noise key is there and its journal is not, every
//                 attempt up to the key's counts as if it had been completed. What the database
//                 knows beyond journal and key is added, and so is, as if completed, a run that was
//                 begun and left neither (charge.h). A run that several rows share counts once.
//   Same data     Datasets are the same data where they share a name or a mark of their files
//                 (datasets/same_data.h), whatever their options: these choose how a record is
//                 represented, or fewer records. Generated ones are the same data where they have
//                 the same options. What identifies data is recorded when a spec is run, because
//                 files, links and the secret of the marks may be gone later.
//   Splits        One record lies in one split, so disjoint splits compose in parallel: the
//                 odometer shows the largest. Within a split everything composes in sequence. Where
//                 runs did not divide the data alike (datasets/same_data.h), or into splits of
//                 other sizes, a record may have been in both, and all splits are one.
//   Selections    The runs of a private selection count together, at the price of a selection
//                 among runs that cost as much as its dearest: one by one they would tell how many
//                 there were, which that price needs hidden. A selection that is not finished
//                 counts in full as soon as it may have begun. Runs that may belong to a selection
//                 of which no rule is recorded are left out (Spending::has_unknown_selection),
//                 unless confidential values are asked for. What databases and records tell of one
//                 booking (Composition::booking) is one selection, at the most that any tells; two
//                 copies of a folder that concluded one booking with other attempts made two.
//   Seeds         Where a comparison decides how many seeds are trained (spec::SequentialSeeds),
//                 all that the spec allows count from the start, whether or not they are trained,
//                 and also where they are cancelled.
//   Lower bound   With has_unknown_selection or Odometer::unreadable files the reading lacks what
//                 these released. Where runs did not divide the data alike, a test record of one
//                 may be a private one of another, and its accuracy was printed without noise. It
//                 is then no upper bound, and `hyfreedp odometer` says "at least". So it is with an
//                 `ood_test` of the same data, which earlier versions took, and with a user's own
//                 files beside other data, where marks that would show that these are the same are
//                 missing (Odometer::may_be).
//   No epsilon    Runs without privacy, and un-noised scores (oracle), are on the data all the
//                 same: they are counted, and the odometer is infinite; the epsilon beside it is
//                 that of the private part.
//   Noise seeds   Whoever knows the seed can subtract the noise; the epsilon then guarantees
//                 nothing, which is said.
//
// Evaluation on test data is outside the mechanism and does not count.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "datasets/same_data.h"
#include "harness/accounting/accountant.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/spec/spec.h"
#include "harness/trial/event_tally.h"
#include "harness/trial/trial_config.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// The releases about one dataset.
struct Spending {
  std::set<std::string> datasets = {};  // as specs name it
  datasets::TrainedData data = {};      // names, marks and divisions of the data
  bool is_public = false;               // the training split of all
  std::int64_t records = 0;             // of its private training split
  std::int64_t validation_records = 0;
  bool splits_differ = false;  // between runs: all splits are then composed as one

  std::map<std::string, trial::EventTally> splits;
  std::size_t selections = 0;  // private selections whose events are in `splits`
  std::int64_t non_private_runs = 0;
  // un-noised validation or training accuracies that were handed to a method
  std::int64_t oracle_scores = 0;
  // of specs that declared the data public: what they show is not noised
  std::int64_t public_runs = 0;
  bool reproducible_noise = false;
  bool has_unknown_selection = false;    // runs that were left out
  bool was_tested_on = false;            // test records of a run of other data may be of it
  std::map<std::string, double> tables;  // by spec: the largest epsilon of its rows
  std::int64_t runs = 0;                 // confidential

  // All names: "table-file (copy) = table-file (people)".
  std::string title() const;
  // Runs did not divide the data alike.
  bool is_unmatched() const { return data.divisions.size() > 1; }
  // True if something that may have been released is in no reading of this data.
  bool is_lower_bound() const { return has_unknown_selection || is_unmatched() || was_tested_on; }
  bool is_infinite() const { return !what_has_no_epsilon().empty(); }
  // "2 non-private runs and 1 un-noised score (oracle)"; empty where all has an ε.
  std::string what_has_no_epsilon() const;
  // Adds the most that a run of `config` will release.
  void plan(const trial::TrialConfig& config);
  void add_selection(const accounting::Selection& selection);
  void add(const std::vector<accounting::Event>& events);
  // Adds the spending of a dataset that turned out to be the same data.
  void add(const Spending& other);
};

// Holds what the odometer charges a run.
struct RunCharge {
  std::vector<trial::ChargedAttempt> attempts;  // of one that is not over
  std::vector<accounting::Event> events;        // in all
};
// The charge of each run of the folder that has begun, by the trial's id.
Result<std::map<std::string, RunCharge>> charged_runs(const results::Store& store, const OutFolder& out);
// True if the rows of a study without an answer list their runs. Those of a private selection do
// not: their number is confidential.
bool lists_its_runs(const std::string& method, const trial::Composition& composition);

// Un-noised validation or training accuracies that a run with this evaluation hands to its method.
std::int64_t oracle_scores_of(const trial::Evaluation& evaluation);

// To be called once the study is concluded: names the attempts of the runs that it lists
// (Composition::attempts).
Result<void> name_attempts(const results::Store& store, results::StudyRecord& study);

// Writes into the composition of a private selection that was booked and is not continued what its
// runs cost (Composition::unlisted). `dearest`: the most that any of them is charged. Does nothing
// if that is empty, or if the booking names no data.
void unlist_begun(trial::Composition& composition, std::vector<accounting::Event> dearest);

// The default delta: N^-1.1 for the size N of the training split.
double default_delta(const Spending& spending);

// The private part at one delta. `splits` is sorted by name; it has one entry, kAllSplits, if the
// splits differ between runs.
inline constexpr const char* kAllSplits = "all splits";
struct OdometerReading {
  // The ε of the private releases; 0 if there were none. Ask Spending::is_infinite(), too.
  accounting::ReportedEpsilon total;
  std::map<std::string, accounting::ReportedEpsilon> splits;
};
// Reads the odometer; with `split`, for that split alone. An error that names the splits if nothing
// touched it.
Result<OdometerReading> read_odometer(const Spending& spending, double delta,
                                      const std::optional<std::string>& split = {});

// True if the odometer is at most `epsilon`, which it is not if spending.is_infinite(). This is
// faster than reading it.
Result<bool> is_within(const Spending& spending, double epsilon, double delta);

struct OdometerOptions {
  bool confidential = false;
  // Also counts what has not started: open selections without a run, and interrupted runs as if
  // they were started again.
  bool to_be_continued = false;
};

// Records on which runs measure an accuracy that is printed without noise.
struct TestSet {
  std::string name;      // "the ood_test 'shifted'", "the test split"
  trial::Named dataset;  // of whose test split they are
  bool is_own = false;   // which the runs train on

  bool may_share_records(const datasets::DataIdentity& identity, const datasets::TrainedData& trained) const {
    return is_own ? datasets::own_test_may_share_records(identity, trained)
                  : datasets::may_share_records(identity, trained);
  }
  // Of a run's own data, the odometer says that they may be the same as others (may_be()).
  bool may_share_unmarked_records(const datasets::DataIdentity& identity,
                                  const datasets::TrainedData& trained) const {
    return !is_own && datasets::may_share_unmarked_records(identity, trained);
  }
};
TestSet test_set_of(const trial::OodTest& test);
TestSet own_test_set_of(const trial::Named& dataset);

struct Odometer {
  std::vector<Spending> data;        // by title()
  std::set<std::string> final_runs;  // ids of those that will not be run again
  // Ids of runs of seeds that may not be needed, which are counted though they have not begun.
  std::set<std::string> booked_runs;
  // Journals, keys and release records that cannot be read, and lost journals of runs that only a
  // row still names, with the reason: what they tell of is not counted. How many there are is
  // confidential, as the number of runs is.
  std::vector<std::string> unreadable;
  // The test sets of runs that began, each once.
  std::map<std::string, TestSet> tested = {};
  // An open private selection of which something may have begun. Confidential.
  struct BegunSelection {
    std::vector<std::string> runs;           // ids of those that may be its alone
    std::vector<std::string> shared;         // of those that may be another selection's as well
    bool may_have_others = false;            // which the database does not know
    std::vector<accounting::Event> dearest;  // the most that any of them all is charged
  };
  std::map<std::string, BegunSelection> begun_selections = {};  // by study, also cancelled ones

  // Returns the spending of the dataset; makes it if nothing has touched the data yet. If the
  // dataset shows that several are the same data, they become one. Valid until the next call.
  Spending& of(const trial::Named& dataset);
  const Spending* find(const std::string& name) const;  // by one of its names; null: none

  // The names of other data that may be the same as `spending` is about, since marks that would
  // show it are missing or are of two users; their readings are then lower bounds.
  std::set<std::string> may_be(const Spending& spending) const;

  // The identities that a dataset had when specs that name it were run, and the present one last.
  // They are kept, since a name is looked up in the file system.
  const std::vector<datasets::DataIdentity>& identities(const trial::Named& dataset);
  const datasets::DataIdentity& identity(const trial::Named& dataset) { return identities(dataset).back(); }
  // All of these together.
  datasets::TrainedData trained_data(const trial::Named& dataset);
  std::map<std::string, std::vector<datasets::DataIdentity>> recorded = {};  // by data_text()
  std::map<std::string, std::vector<datasets::DataIdentity>> known = {};     // by data_text()
};

// The text by which the database knows a dataset: without the options that choose a part of it.
std::string data_text(const trial::Named& dataset);
// Returns what record_data() recorded of data, by data_text().
Result<std::map<std::string, std::vector<datasets::DataIdentity>>> recorded_data(const results::Store& store);
// Records what the spec's data and test sets are identified by now. To be done before any of its
// runs begins.
Result<void> record_data(results::Store& store, const spec::Spec& spec);

Result<Odometer> odometer_of(const results::Store& store, const OutFolder& out,
                             const OdometerOptions& options = {});

}  // namespace hyfreedp::runner
