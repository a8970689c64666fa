// Runs jobs: submit, poll, cancel.
//
// A job is one request of harness/trial/worker_protocol.h ("prepare" or "run"). An executor passes
// it to a worker and passes back what the worker says; it knows nothing else about trials.
//
// Contract (tests/runner/executor_contract.h; every executor passes it)
//   - Each submitted job gets exactly one `over` update, whatever happens to its worker, and
//     nothing after it.
//   - A worker's death ends its own job only, as a failure that says how it died; the other jobs
//     continue elsewhere.
//   - Among waiting jobs the costliest starts first; of equal cost, the one submitted first. This
//     affects speed only: no result may depend on the order in which jobs end.
//   - Where an executor has a limit of memory, the jobs under way need no more than that together
//     (Job::memory): one that does not fit waits, and cheaper ones that fit start before it. One
//     job always runs, whatever it needs.
//   - poll() fails only if no job can run at all (the worker program is missing, or dies at once,
//     repeatedly).
//   - What a job's before_start writes is written before any worker has the job.
//   - An executor never runs a job a second time by itself; whoever submitted it decides that.
// Called by the coordinator, from one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::runner {

struct Job {
  std::string id;        // unique among the jobs that are not over
  json::object request;  // a line of the worker protocol
  double cost = 0;       // relative, any unit; dearer jobs start first
  double memory = 0;     // bytes that it may need, an upper estimate; 0: unknown
  // The time from its start after which its worker is told to stop, and the job ends as kOverTime.
  // 0: no limit.
  std::chrono::duration<double> time_limit{0};
  // Called by poll() before a worker gets the job, and not at all if none does; the job waits for
  // it. It may complete the request. Its error is poll()'s.
  std::function<Result<void>(json::object& request)> before_start = {};
};

// The files that a trial's run reads and writes.
struct TrialFiles {
  std::string journal;
  std::string key;                // for unseeded trials only
  std::string checkpoints = {};   // folder; empty: none are written
  double checkpoint_seconds = 0;  // between two; 0: only when the run is told to stop
  std::string weights = {};       // folder in which its weights are to be kept; empty: nowhere
};
Job trial_job(const trial::TrialConfig& config, const TrialFiles& files);
// It starts before every trial, since trials wait for it, perhaps the dearest.
Job prepare_job(const trial::Named& dataset);

// Kinds of failure that an executor itself reports for a job; all others come from the worker.
inline constexpr const char* kKilled = "killed";        // a signal ended the worker
inline constexpr const char* kInternal = "internal";    // the worker left, or spoke nonsense
inline constexpr const char* kCancelled = "cancelled";  // cancel() or stop()
inline constexpr const char* kHung = "hung";            // the worker showed no progress
inline constexpr const char* kOverTime = "over-time";   // the job's time limit
// The worker's limit; also a worker's own kind.
inline constexpr const char* kOutOfMemory = "out-of-memory";

struct Update {
  // use: what the job's process takes, now and then
  enum class Kind { started, progress, use, over };
  Kind kind = Kind::over;
  std::string job;
  int slot = 0;  // which worker, from 0

  // progress: released values only
  std::int64_t step = 0;
  std::int64_t steps = 0;
  std::map<std::string, double> scalars;

  // use, and over where the worker still lives then; in use, seconds and cpu_seconds are those
  // since the job's start
  double resident_bytes = 0;  // memory of the process, mapped files included
  double device_bytes = 0;    // on the GPU; 0: none

  // over
  bool failed = false;
  std::string failure_kind;
  std::string message;
  double seconds = 0;
  double cpu_seconds = 0;               // of the worker's process, over the job; 0: it does not say
  double peak_bytes = 0;                // resident, of the process over the job; 0: it does not say
  std::string weights_problem = {};     // of a run that finished: why its weights were not kept
  std::string checkpoint_problem = {};  // why its last checkpoint could not be written
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual void submit(Job job) = 0;
  // Returns what happened since the last call, oldest first; waits up to `patience` for something
  // to happen.
  virtual Result<std::vector<Update>> poll(std::chrono::milliseconds patience) = 0;
  // The job ends as kCancelled, unless it ends before the worker is told.
  virtual void cancel(const std::string& job) = 0;
  // Cancels all jobs and returns when every worker has exited; poll() then returns the last
  // updates.
  virtual void stop() = 0;
  virtual int slots() const = 0;
};

}  // namespace hyfreedp::runner
