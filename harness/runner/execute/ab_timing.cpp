#include "harness/runner/execute/ab_timing.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "harness/base/files.h"
#include "harness/runner/executors/local_executor.h"

namespace hyfreedp::runner {
namespace {

Result<Update> wait_for_end(Executor& executor, const std::string& program) {
  for (;;) {
    const auto updates = executor.poll(std::chrono::milliseconds(1000));
    if (!updates) return in_context(program, updates.error());
    for (const auto& update : *updates) {
      if (update.kind != Update::Kind::over) continue;
      if (!update.failed) return update;
      return error(fmt::format("{}: {} ({})", program, update.message, update.failure_kind));
    }
  }
}

// One program in one round.
class Runner {
 public:
  Runner(std::string program, std::string folder)
      : program_(std::move(program)),
        folder_(std::move(folder)),
        executor_({.worker = program_, .slots = 1, .environment = {}}) {}

  Result<void> prepare(const std::vector<AbTimingEntry>& entries) {
    std::set<std::string> done;
    for (const auto& entry : entries) {
      for (const auto& dataset : trial::datasets_of(entry.config)) {
        auto job = prepare_job(dataset);
        if (!done.insert(job.id).second) continue;
        executor_.submit(std::move(job));
        if (auto over = wait_for_end(executor_, program_); !over) return over.error();
      }
    }
    return {};
  }

  // Seconds of the trial; processor time where the processor does the work and the worker says it.
  Result<double> run(const AbTimingEntry& entry) {
    const auto file = fmt::format("{}/{}", folder_, runs_++);
    executor_.submit(trial_job(entry.config, {.journal = file + ".jsonl", .key = file + ".key"}));
    const auto over = wait_for_end(executor_, program_);
    if (!over) return over.error();
    peak_bytes_ = std::max(peak_bytes_, over->peak_bytes);
    const bool on_cpu = entry.config.device == "cpu";
    return on_cpu && over->cpu_seconds > 0 ? over->cpu_seconds : over->seconds;
  }

  double peak_bytes() const { return peak_bytes_; }

 private:
  std::string program_;
  std::string folder_;
  LocalExecutor executor_;
  int runs_ = 0;
  double peak_bytes_ = 0;
};

Result<void> run_pair(Runner& tonight, Runner& reference, const AbTimingEntry& entry, bool tonight_first,
                      results::AbRound& round) {
  for (const bool first : {true, false}) {
    const bool of_tonight = first == tonight_first;
    const auto seconds = (of_tonight ? tonight : reference).run(entry);
    if (!seconds) return seconds.error();
    (of_tonight ? round.tonight : round.reference) = *seconds;
  }
  return {};
}

// Geometric means over the cells: every cell's ratio counts alike.
results::AbRound mean_of_last(const std::vector<results::AbTiming>& timings, std::size_t cells) {
  double tonight = 0, reference = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    tonight += std::log(timings[i].rounds.back().tonight);
    reference += std::log(timings[i].rounds.back().reference);
  }
  const auto count = static_cast<double>(cells);
  return {std::exp(tonight / count), std::exp(reference / count)};
}

Result<void> run_round(const AbTimingRequest& request, int number, std::vector<results::AbTiming>& timings) {
  const auto ours = ScratchFolder::make(), theirs = ScratchFolder::make();
  if (!ours) return ours.error();
  if (!theirs) return theirs.error();
  Runner tonight(request.tonight, ours->path()), reference(request.reference, theirs->path());
  for (auto* runner : {&tonight, &reference}) {
    if (auto prepared = runner->prepare(request.entries); !prepared) return prepared;
  }
  for (std::size_t i = 0; i < request.entries.size(); ++i) {
    results::AbRound round;
    const bool tonight_first = (static_cast<std::size_t>(number) + i) % 2 == 0;
    if (auto ran = run_pair(tonight, reference, request.entries[i], tonight_first, round); !ran) return ran;
    timings[i].rounds.push_back(round);
  }
  timings[request.entries.size()].rounds.push_back(mean_of_last(timings, request.entries.size()));
  if (tonight.peak_bytes() > 0 && reference.peak_bytes() > 0) {
    timings.back().rounds.push_back({tonight.peak_bytes(), reference.peak_bytes()});
  }
  return {};
}

}  // namespace

Result<std::vector<results::AbTiming>> run_ab_timing(const AbTimingRequest& request,
                                                     const std::function<void(int round)>& progress) {
  for (const auto& entry : request.entries) {
    if (!entry.config.noise_seed) {
      return error(
          "a spec without noise_seed cannot be timed by running it again: that would be another release of "
          "its "
          "data.");
    }
  }
  std::vector<results::AbTiming> timings;
  for (const auto& entry : request.entries)
    timings.push_back({"speed", entry.panel, entry.row, entry.epsilon, {}});
  timings.push_back({"speed", "", "", {}, {}});
  timings.push_back({"memory", "", "", {}, {}});
  for (int round = 0; round < request.rounds; ++round) {
    progress(round);
    if (auto ran = run_round(request, round, timings); !ran) return ran.error();
  }
  if (timings.back().rounds.empty()) timings.pop_back();
  return timings;
}

}  // namespace hyfreedp::runner
