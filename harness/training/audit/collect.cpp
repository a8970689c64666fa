#include "harness/training/audit/collect.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <functional>
#include <mutex>
#include <thread>

#include "harness/training/audit/audit_observer.h"
#include "harness/training/audit/one_run.h"

namespace hyfreedp::training {
namespace {

struct PlannedRun {
  const Experiment* experiment = nullptr;
  std::int64_t number = 0;  // over all runs of the audit
  bool sparse = false;
};

struct Limits {
  std::int64_t workers = 1;
  std::int64_t residual_steps = 0;
};

Result<RunObservations> observe(const PlannedRun& planned, std::int64_t residual_steps,
                                const ScratchFolder& folder, const Parts& parts) {
  try {
    AuditObserver observer(*planned.experiment, planned.number, residual_steps);
    auto executed = run_under(observer, *planned.experiment, planned.number, folder, parts);
    if (!executed) return executed.error();
    auto observed = observer.take();
    observed.releases.executed = std::move(*executed);
    return observed;
  } catch (const std::exception& caught) {
    return error(fmt::format("Run {} of the audit failed: {}", planned.number, caught.what()));
  }
}

// Workers take the next run until there is none or one has failed.
Result<std::vector<RunObservations>> observe_all(const std::vector<PlannedRun>& planned, const Limits& limits,
                                                 const ScratchFolder& folder, const AuditProgress& progress,
                                                 const Parts& parts) {
  std::vector<Result<RunObservations>> results(planned.size(), RunObservations{});
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex speaking;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < planned.size() && !failed; i = next++) {
      results[i] = observe(planned[i], limits.residual_steps, folder, parts);
      if (!results[i]) failed = true;
      const std::lock_guard lock(speaking);
      progress(fmt::format("run {} of {}", ++done, planned.size()));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::int64_t k = 1; k < limits.workers; ++k) threads.emplace_back(work);
    work();
  }
  std::vector<RunObservations> observed;
  for (auto& result : results) {
    if (!result) return result.error();
    observed.push_back(std::move(*result));
  }
  return observed;
}

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void add_counts(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
  std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
}

// Joined with the earlier runs' counts of batches of the same name.
void merge(audit::SamplerCounts&& counts, std::vector<audit::SamplerCounts>& all) {
  if (counts.batch.empty()) return;
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.batch == counts.batch; });
  if (same == all.end()) {
    all.push_back(std::move(counts));
    return;
  }
  same->sizes.insert(same->sizes.end(), counts.sizes.begin(), counts.sizes.end());
  add_counts(same->inclusions, counts.inclusions);
  add_counts(same->pair_together, counts.pair_together);
}

void merge(audit::CanaryScores&& scores, std::vector<audit::CanaryScores>& all) {
  if (scores.kind.empty() || scores.steps == 0 || (scores.in.empty() && scores.out.empty())) return;
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.kind == scores.kind; });
  if (same == all.end()) {
    all.push_back(std::move(scores));
    return;
  }
  append(same->in, scores.in);
  append(same->out, scores.out);
}

void merge(RunObservations&& run, bool sparse, audit::Observations& all) {
  std::move(run.residuals.begin(), run.residuals.end(), std::back_inserter(all.residuals));
  if (sparse) {
    for (auto* counts : {&run.gradient_batches, &run.probe_batches}) {
      if (!counts->batch.empty()) counts->batch += ", small population";
    }
  } else {
    merge(std::move(run.gradient_scores), all.canaries);
    merge(std::move(run.joint_scores), all.canaries);
    merge(std::move(run.probe_scores), all.canaries);
  }
  merge(std::move(run.gradient_batches), all.samplers);
  merge(std::move(run.probe_batches), all.samplers);
  all.runs.push_back(std::move(run.releases));
}

std::int64_t dimension_of(const Experiment& experiment) {
  return Reference(experiment.config, experiment.dataset.private_train).dimension();
}

std::vector<PlannedRun> plan_runs(const audit::Request& request, const Experiment& full,
                                  const std::optional<Experiment>& sparse) {
  std::vector<PlannedRun> planned;
  const auto add = [&](const Experiment& experiment, std::int64_t count, bool is_sparse) {
    for (std::int64_t k = 0; k < count; ++k) {
      planned.push_back({&experiment, static_cast<std::int64_t>(planned.size()), is_sparse});
    }
  };
  add(full, request.runs, false);
  if (sparse) add(*sparse, (kSparseBatches + request.steps - 1) / request.steps, true);
  return planned;
}

}  // namespace

Result<audit::Observations> collect(const audit::Request& request, const AuditProgress& progress,
                                    const Parts& parts) {
  const auto full = full_experiment(request);
  if (!full) return full.error();
  const auto sparse = sparse_experiment(request);
  if (!sparse) return sparse.error();
  const auto folder = ScratchFolder::make();
  if (!folder) return folder.error();
  const auto planned = plan_runs(request, *full, *sparse);
  const auto vectors = std::max<std::int64_t>(1, kMostResiduals / dimension_of(*full));
  const Limits limits{
      .workers = request.workers,
      .residual_steps = std::max<std::int64_t>(2, vectors / static_cast<std::int64_t>(planned.size()))};
  const auto sparse_runs = static_cast<std::int64_t>(planned.size()) - request.runs;
  progress(fmt::format("{} runs of {} steps{}", request.runs, request.steps,
                       sparse_runs > 0 ? fmt::format(" and {} on a small population", sparse_runs) : ""));
  auto observed = observe_all(planned, limits, *folder, progress, parts);
  if (!observed) return observed.error();

  audit::Observations all;
  for (std::size_t i = 0; i < planned.size(); ++i) merge(std::move((*observed)[i]), planned[i].sparse, all);
  const auto guesses = one_run_guesses(request, static_cast<std::int64_t>(planned.size()), *folder, parts);
  if (!guesses) return guesses.error();
  if (*guesses) all.one_run.push_back(**guesses);
  return all;
}

}  // namespace hyfreedp::training
