// Makes rows in the store from a spec: plans, asks the baselines, gives trials to an executor,
// prices and records.
//
// Deterministic: a row depends on the spec and on the outcomes of its trials. It does not depend on
// the order in which they ended, on the workers that ran them, or on how often the run was
// interrupted.
//   - A trial that several studies want runs once; one that ended in an earlier run
//     (in the store, or in a complete journal) is not run again.
//   - A trial that the machine lost (killed, hung, out of memory, ...) or that reached its time
//     limit fails the studies that want it in this run, and the next run tries again. A trial that
//     failed by itself (diverged) is an answer, which the method sees.
//   - Each dataset is prepared once, before its first trial.
//   - A study that its user cancels while it runs (study_request.h) has no part in this any more: a
//     run that no other study wants is stopped, as at Ctrl-C, and the others go on.
//   - Every job says what memory it may need (execute/run_memory.h), so that the executor lets
//     those wait that do not fit beside others.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/runner/execute/budget.h"
#include "harness/runner/execute/kept_weights.h"
#include "harness/runner/execute/only.h"
#include "harness/runner/execute/seed_gate.h"
#include "harness/runner/execute/study_epsilon.h"
#include "harness/runner/execute/study_request.h"
#include "harness/runner/execute/study_run.h"
#include "harness/runner/execute/system_log.h"
#include "harness/runner/executors/executor.h"
#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/odometer/trial_book.h"
#include "harness/runner/progress/progress.h"
#include "harness/runner/progress/run_listener.h"
#include "harness/runner/progress/tally.h"
#include "harness/runner/spec/plan.h"
#include "harness/trial/event_tally.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// A study that has no value, in the spec's order.
struct FailedStudy {
  std::string cell;  // "linear, hyfreedp, eps 3, seed 0"
  std::string kind;
  std::string message;
  bool unexpected = false;  // the machine's or the program's fault
};

struct RunReport {
  std::size_t studies = 0;       // that were asked for
  std::size_t cells = 0;         // that these studies fill
  std::size_t known_before = 0;  // answered by an earlier run
  // Runs that other rows or specs of the folder had made before, and that were not made again; none
  // of private selections.
  std::size_t taken_over = 0;
  std::size_t left_out = 0;   // studies of the spec that were not asked for
  std::size_t left_open = 0;  // of these, without an answer
  // Studies of seeds of which the comparison (spec::SequentialSeeds) could not say whether they are
  // needed: a row of it has no answer yet.
  std::size_t held = 0;
  std::vector<FailedStudy> failed;
  bool stopped = false;             // asked to; what is missing is continued by the next run
  std::optional<std::string> halt;  // what the user must mend first: no such device, dataset gone
  // The message with which the budget refused a run; a run with a larger budget continues the spec.
  // Absent: it refused none.
  std::optional<std::string> refused;
  std::string checkpoint_problem;  // why the last one could not be written; empty: all could
  bool hides_times = false;        // how long it took tells how many runs a private selection made
  std::string closed_folder;       // so do the sizes of files: close_to_others()
  KeptReport weights;              // with keep_weights, of a run that came to its end
  bool halt_is_crash = false;      // ... or a worker that was killed before anything could run

  bool failed_unexpectedly() const;
};

inline constexpr std::chrono::minutes kCheckpointInterval{10};

class Coordinator {
 public:
  // The time for which studies are advanced before workers are heard again.
  static constexpr std::chrono::milliseconds kPlanningTurn{50};
  // The least time between two writings of the release record.
  static constexpr std::chrono::seconds kRecordInterval{5};

  Coordinator(results::Store& store, Executor& executor, const OutFolder& out, Progress& progress);

  // Sets a budget; by default nothing is refused. What the spec starts with must be reserved
  // already.
  void keep_within(Budget budget) { budget_ = std::move(budget); }

  // Sets the interval at which a run's state is written beside training
  // (harness/training/checkpoint.h); 0: only when the run is told to stop.
  void checkpoint_every(std::chrono::duration<double> interval) { checkpoint_interval_ = interval; }

  // Limits the time that a run takes in this execution of the program. A checkpoint keeps its
  // state, from which the next execution continues. By default there is no limit.
  void limit_time(std::chrono::duration<double> limit) { time_limit_ = limit; }

  // Trains these studies alone. The others are recorded as open; nothing of them is drawn, booked
  // or charged. The spec counts as complete, and gives up the key of its draws, when all have an
  // answer.
  void keep_to(Only only) { only_ = std::move(only); }

  // Sets the interval at which it looks for requests of `cancel`, `note` and `tag`
  // (study_request.h).
  void look_for_requests_every(std::chrono::steady_clock::duration interval) { request_interval_ = interval; }

  // Stages the runs' weights, and publishes those that rows report at the end of run(). open() must
  // have been called.
  void keep_weights(KeptWeights keeper) { keeper_ = std::move(keeper); }

  // Tells `listener`, which must outlive run(), what happens.
  void tell(RunListener& listener) { listeners_.push_back(&listener); }

  // Runs `spec` as recorded in the store (enter_spec). An error if nothing can run any more.
  Result<RunReport> run(const Spec& spec, const std::function<bool()>& stop_asked);

 private:
  struct Wanted {
    trial::TrialConfig config;
    std::vector<std::size_t> studies;  // waiting for it
    std::string unit;                  // what it counts as in the tally
    double cost = 0;                   // for the order: dearest first
    bool has_worker = false;
    Heard heard = Heard::nothing;
    bool is_stopping = false;  // the studies that wanted it were cancelled
    SystemLog system = {};
  };

  struct Refused {
    std::size_t study = 0;
    std::vector<trial::TrialConfig> wishes;
  };

  Result<void> open_studies(const Spec& spec);
  Result<void> leave_out(PlannedStudy study, const std::string& spec, const results::StudyRecord* recorded);
  // True if the row is a private selection that is one of `lost` (lost_selections()): it has its
  // answer then. Its price holds for one making.
  Result<bool> close_as_lost(std::size_t index, const std::map<std::string, trial::Composition>& lost);
  Result<std::map<std::string, results::StudyRecord>> recorded_studies(const std::string& spec) const;
  Result<void> loop(const std::function<bool()>& stop_asked);
  Result<void> advance_ready();
  Result<void> advance(std::size_t index);
  Result<void> want(std::size_t index, const trial::TrialConfig& config);
  Result<void> start_when_prepared(const std::string& trial);
  Result<void> start(const std::string& trial);
  bool wants_weights(const Wanted& wanted) const;
  Result<void> conclude_weights(const std::string& spec, bool complete);
  Result<void> take(const Update& update);
  Result<void> take_end(const Update& update);
  Result<void> take_prepared(const Update& update);
  Result<void> keep_system(const std::string& trial, const SystemLog& log);
  void deliver(std::size_t index, const std::string& trial, const TrialEnd& end);
  Result<void> finish(std::size_t index);
  Result<void> record_now_and_then();
  Result<void> open_gate();
  Result<void> end_not_needed(std::size_t index);
  Result<void> heed_requests();
  Result<void> cancel(const std::string& study);
  void stop_runs_of(std::size_t index);
  Result<void> conclude_cancelled();
  void note_failure(std::size_t index, const results::StudyRecord& record, bool unexpected);
  Result<void> price(const StudyRun& run, results::StudyRecord& record);
  void show();
  StudyNews news_of(std::size_t index, const results::StudyRecord& record) const;
  void halt(const std::string& kind, const std::string& message);
  Result<void> wind_up();
  std::string describe(std::size_t index) const;

  results::Store& store_;
  Executor& executor_;
  OutFolder out_;
  Progress& progress_;
  std::vector<RunListener*> listeners_;
  TrialBook book_;
  StudyPricer pricer_;
  Tally tally_;
  std::chrono::duration<double> checkpoint_interval_ = kCheckpointInterval;
  std::chrono::duration<double> time_limit_{0};
  std::optional<Budget> budget_;
  Only only_;
  std::optional<KeptWeights> keeper_;
  std::optional<Refused> refused_;  // the first
  RunReport report_;
  std::vector<StudyRun> studies_;
  std::optional<SeedGate> gate_;
  std::chrono::steady_clock::duration request_interval_ = std::chrono::seconds(1);
  std::chrono::steady_clock::time_point next_look_ = {};
  std::chrono::steady_clock::time_point next_record_ = {};
  std::vector<TakenRequest> heeded_;                         // until all that they cancel is over
  std::map<std::size_t, std::set<std::string>> cancelling_;  // studies: their runs that are to stop
  std::deque<std::size_t> ready_;                            // studies to advance
  std::map<std::string, Wanted> trials_;                     // waiting or running
  // Trials that this run does not try again. The database has the others that ended.
  std::map<std::string, TrialEnd> lost_;
  std::set<std::string> started_;     // trials
  std::set<std::string> taken_over_;  // trials (RunReport::taken_over)
  std::set<std::size_t> begun_;       // studies that listeners know of
  // The trials that wait for each prepare job that is not over.
  std::map<std::string, std::vector<std::string>> held_back_;
  std::set<std::string> prepared_;             // prepare jobs that are over
  std::optional<std::string> draw_key_;        // file, while studies of an unseeded spec are open
  std::map<std::size_t, FailedStudy> failed_;  // by position in the spec
};

}  // namespace hyfreedp::runner
