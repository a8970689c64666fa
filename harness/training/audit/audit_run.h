// Makes one training run with an observer, in the way a worker makes it: by the trainer, with its
// own key and journal.
#pragma once

#include <string>
#include <vector>

#include "harness/mechanism/release/observer.h"
#include "harness/training/audit/experiment.h"
#include "harness/training/parts.h"

namespace hyfreedp::training {

// The folder of an audit's journals and keys; it is removed with the object.
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

// Runs the experiment and returns the events that the journal charges. Each run of an audit has
// another `repetition`, and therefore its own key and journal. Returns an error if the run did not
// finish.
Result<std::vector<accounting::Event>> run_under(mechanism::Observer& observer, const Experiment& experiment,
                                                 std::int64_t repetition, const AuditFolder& folder,
                                                 const Parts& parts = {});

}  // namespace hyfreedp::training
