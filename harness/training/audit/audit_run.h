// One training run under an observer, made as a worker makes it: its own key, its own journal, the trainer.
#pragma once

#include <string>
#include <vector>

#include "harness/training/audit/experiment.h"
#include "harness/training/observer.h"

namespace hyfreedp::training {

// Where journals and keys of an audit lie; removed with the object.
class AuditFolder {
 public:
  static Result<AuditFolder> make();
  AuditFolder(AuditFolder&& other) noexcept;
  AuditFolder& operator=(AuditFolder&&) = delete;
  ~AuditFolder();
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit AuditFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// `repetition` is another one for each run of an audit, so that each has a key and a journal of its own. Returns what
// the journal charges; an error where the run did not finish.
Result<std::vector<accounting::Event>> run_under(Observer& observer, const Experiment& experiment,
                                                 std::int64_t repetition, const AuditFolder& folder);

}  // namespace hyfreedp::training
