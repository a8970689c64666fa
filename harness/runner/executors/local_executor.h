// The executor of one machine: a fixed number of long-lived workers with one job at a time each.
//
// Workers start when there is work for them, load LibTorch once and run many jobs. A worker that
// dies is replaced while jobs wait; if workers die repeatedly without ending a job, poll() fails. A
// thread of the executor gives out jobs, so that workers stay busy while the coordinator computes
// an epsilon.
//
// Every `watch` it looks at its workers. One that does not say that its work goes on
// (trial::worker_protocol.h, "heartbeat") for `hang_limit` is killed, however it came to that:
// stopped, in a deadlock, in an endless loop. So is one that has more memory than `memory_limit`.
// Time is counted look by look: what passes while this program itself is stopped (Ctrl-Z, a machine
// that sleeps) counts for no limit.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "harness/base/program.h"
#include "harness/runner/executors/executor.h"
#include "harness/runner/executors/worker_process.h"

namespace hyfreedp::runner {

struct LocalOptions {
  std::string worker;  // path of the program
  int slots = 2;
  std::chrono::milliseconds grace{15000};  // from being told to stop to SIGKILL
  WorkerProcess::Environment environment;  // added to worker_environment()
  std::chrono::milliseconds watch{1000};
  // The longest time without progress, from a job's start on; a minute at least while its worker
  // starts. 0: no limit.
  std::chrono::duration<double> hang_limit{0};
  // Bytes that a worker may have for itself, mapped files apart; 0: no limit.
  double memory_limit = 0;
  // Bytes that jobs under way may need together; 0: no limit.
  double memory = 0;
  std::chrono::duration<double> use_interval{10};  // between two updates of kind `use`
};

// The environment of a worker: HYFREEDP_THREADS threads (default 1 for any number of workers, so
// that results do not depend on it), which sleep while idle, so that two workers share two cores.
WorkerProcess::Environment worker_environment();
// "2 workers of 1 thread each, ...", for people.
std::string describe_workers(int slots);

// The path in HYFREEDP_WORKER, or hyfreedp-worker beside this program. An error if there is no such
// program.
Result<std::string> find_worker();

// Runs the worker at `path` to its end, with `call`'s arguments and what it says on the way.
// Returns an error where it cannot be started.
Result<ProgramEnd> run_worker(const std::string& path, ProgramCall call);

// Asks the worker at `path` whether it can train on `device`; the error says what it lacks. Loads
// LibTorch once.
Result<void> check_device(const std::string& path, const std::string& device);

class LocalExecutor final : public Executor {
 public:
  explicit LocalExecutor(LocalOptions options);
  ~LocalExecutor() override;

  void submit(Job job) override;
  Result<std::vector<Update>> poll(std::chrono::milliseconds patience) override;
  void cancel(const std::string& job) override;
  void stop() override;
  int slots() const override;

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace hyfreedp::runner
