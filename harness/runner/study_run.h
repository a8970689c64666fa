// One study on its way: asks its baseline for trials, waits for them, asks again, and concludes. Pure: the outcome
// depends on which trials finished how, never on their order.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/runner/plan.h"

namespace hyfreedp::runner {

class StudyRun {
 public:
  StudyRun(PlannedStudy study, std::string spec);

  const PlannedStudy& study() const { return study_; }
  const baselines::Cell& cell() const { return study_.cell; }

  // Call while nothing is waited for. The trials wanted next, not asked for before; empty: outcome() is there.
  std::vector<trial::TrialConfig> advance();
  bool is_waiting() const { return !waiting_.empty(); }
  bool is_over() const { return over_; }

  // A trial that was asked for has an end: by its own doing ...
  void receive(const baselines::FinishedTrial& trial);
  // ... or by the machine's, to be tried again by the next run. The study then waits for no conclusion: concluding
  // without that trial would make the row depend on the accident.
  void receive_lost(const std::string& trial, const std::string& kind, const std::string& message);

  // Of a private selection: writes what it will cost into the outcome, before any of its runs (Baseline::selection).
  void book_selection();

  // Without epsilons and seconds, which come from executed events. While the study is open it lists the trials asked for
  // so far. Where the runs are confidential (Baseline::confidential_runs), one that is open or ended unexpectedly lists
  // none of them: rule selection over nothing, with the runs' intended events as its base.
  const results::StudyRecord& outcome() const { return outcome_; }
  const baselines::Composition& composition() const { return composition_; }
  // The run's or the machine's fault, not a typed failure of the method.
  bool failed_unexpectedly() const { return unexpected_; }

 private:
  std::vector<trial::TrialConfig> new_wishes();
  void conclude();
  void write_booking();
  void check_end_to_end(const baselines::Conclusion& conclusion) const;
  void check_selection(const baselines::Conclusion& conclusion) const;
  void check_parts(const baselines::Conclusion& conclusion) const;
  void end();
  void fail_unexpectedly(const std::string& kind, const std::string& message);
  std::vector<baselines::FinishedTrial> finished() const;

  PlannedStudy study_;
  std::vector<std::string> asked_;  // in order
  std::set<std::string> waiting_;
  std::map<std::string, baselines::FinishedTrial> finished_;
  results::StudyRecord outcome_;
  baselines::Composition composition_;
  std::string lost_;
  int rounds_ = 0;
  bool over_ = false;
  bool unexpected_ = false;
};

}  // namespace hyfreedp::runner
