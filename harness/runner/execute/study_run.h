// One study in progress: it asks its baseline for trials, waits for them, asks again, and
// concludes. It is pure: the outcome depends on how each trial ended and not on their order.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

class StudyRun {
 public:
  StudyRun(PlannedStudy study, std::string spec);

  const PlannedStudy& study() const { return study_; }
  const baselines::Cell& cell() const { return study_.cell; }

  // To be called while no trial is outstanding. Returns the trials that are wanted next and were
  // not asked for before; if there are none, outcome() is final.
  std::vector<trial::TrialConfig> advance();
  bool is_waiting() const { return !waiting_.empty(); }
  bool is_over() const { return over_; }

  // Reports how a requested trial ended, if it ended by itself ...
  void receive(const baselines::FinishedTrial& trial);
  // ... or that it was lost to the machine and will be tried again by the next run. The study then
  // does not conclude: a conclusion without that trial would make the row depend on the accident.
  void receive_lost(const std::string& trial, const std::string& kind, const std::string& message);

  // Ends the study for its user: it asks for nothing more, and outcome() stays that of an open
  // study, from which the record of a cancelled one follows (cancelled_study.h).
  void cancel();

  // For a private selection: writes its cost into the outcome before any of its runs
  // (Baseline::selection).
  void book_selection();
  // An earlier run of the spec left the study without an answer: what it had asked for stays
  // listed, so that it is charged also where the study is cancelled before it asks for it again. Of
  // a private selection nothing is listed.
  void goes_on_from(const results::StudyRecord& recorded);
  // True if an earlier run of the spec asked for the trial.
  bool had_asked_for(const std::string& trial) const;

  // For a study of a comparison that decides how many seeds there are (spec::SequentialSeeds):
  // writes the runs that it would begin with into the outcome, so that they are charged whether or
  // not they are made. How many seeds are trained follows from runs on the private data, so all
  // that may be are charged. To be called after book_selection(), whose booking is marked.
  void book_seed();
  // In place of advance(): the seed was not needed (results::is_not_needed). `planned` is the most
  // that another seed of the row was to release, which is charged where it is more than the
  // booking: methods that search ask for runs in several rounds.
  void end_without_runs(const std::vector<accounting::Event>& planned);

  // The study's record, without epsilons and seconds, which come from executed events. While the
  // study is open, it lists the trials that were asked for. If the runs are confidential
  // (Baseline::confidential_runs), a study that is open or ended unexpectedly lists none of them:
  // its composition is a selection over nothing, with the runs' intended events as its base.
  const results::StudyRecord& outcome() const { return outcome_; }
  const trial::Composition& composition() const { return outcome_.composition; }
  // True if the run or the machine failed, as opposed to a typed failure of the method.
  bool failed_unexpectedly() const { return unexpected_; }

 private:
  void list_trials();
  std::vector<trial::TrialConfig> new_wishes();
  void conclude();
  void write_booking();
  std::string name_of_booking() const;
  void mark_booked_ahead();
  void check_end_to_end(const baselines::Conclusion& conclusion) const;
  void check_selection(const baselines::Conclusion& conclusion) const;
  void check_parts(const baselines::Conclusion& conclusion) const;
  void end();
  void fail_unexpectedly(const std::string& kind, const std::string& message);
  std::vector<baselines::FinishedTrial> finished() const;

  PlannedStudy study_;
  std::vector<std::string> asked_;    // in order
  std::vector<std::string> earlier_;  // by an earlier run of the spec
  std::string booking_;               // of an unseeded private selection
  std::set<std::string> waiting_;
  std::map<std::string, baselines::FinishedTrial> finished_;
  results::StudyRecord outcome_;
  std::string lost_;
  int rounds_ = 0;
  bool over_ = false;
  bool unexpected_ = false;
  bool is_booked_ahead_ = false;  // book_seed()
};

}  // namespace hyfreedp::runner
