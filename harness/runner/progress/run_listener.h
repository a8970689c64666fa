// The interface of those that are told what happens while a spec runs: the log (run_log.h), the
// file that `hyfreedp watch` reads (snapshot.h).
//
// The coordinator tells of private selections that their studies begin and end, and never of their
// runs. A listener that keeps what it hears must also keep to Board::hides_times: where that is
// set, the time at which a selection ends tells how many runs it made. Called from the
// coordinator's thread; a listener must not throw, and be quick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/runner/executors/executor.h"
#include "harness/runner/progress/progress.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

struct StudyNews {
  std::size_t place = 0;  // in the spec's order
  const results::StudyRecord& record;
  bool is_selection = false;  // private: how many runs it makes is confidential
};

class RunListener {
 public:
  virtual ~RunListener() = default;
  // Several times a second, and for the first time before any study begins.
  virtual void board(const Board&) {}
  virtual void study_begun(const StudyNews&) {}
  // `store` has the study and its runs.
  virtual void study_over(const StudyNews&, const results::Store& /*store*/) {}
  // Called for runs that are no private selection's. `title`: the first study that wants it.
  virtual void trial_begun(const std::string& /*trial*/, const std::string& /*title*/,
                           std::int64_t /*steps*/) {}
  virtual void trial_over(const Update&, const std::string& /*title*/) {}
};

}  // namespace hyfreedp::runner
