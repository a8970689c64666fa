#include "harness/runner/execute/asked_runs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/runner/execute/run_keys.h"
#include "harness/runner/execute/study_run.h"
#include "harness/runner/odometer/charge.h"
#include "harness/runner/odometer/odometer.h"
#include "harness/runner/odometer/release.h"
#include "harness/runner/odometer/trial_book.h"
#include "results/store/records.h"

namespace hyfreedp::runner {

Result<AskedRuns> AskedRuns::read(results::Store& store, const OutFolder& out) {
  AskedRuns asked(store, out);
  const auto studies = store.all_studies();
  if (!studies) return studies.error();
  const auto retired = store.retired_studies();
  if (!retired) return retired.error();
  const auto add = [&](const auto& study) {
    for (const auto& run : study.trials) asked.studies_[run].insert(study.id);
  };
  std::ranges::for_each(*studies, add);
  std::ranges::for_each(*retired, add);
  return asked;
}

Result<std::vector<std::string>> AskedRuns::of(const results::StudyRecord& study) {
  const auto planned = plan_of(study.spec);
  if (!planned) return planned.error();
  const auto own = std::ranges::find(**planned, study.id, &PlannedStudy::id);
  return own == (**planned).end() ? std::vector<std::string>() : of(*own, study);
}

Result<std::vector<std::string>> AskedRuns::of(const PlannedStudy& planned,
                                               const results::StudyRecord& study) {
  std::vector<std::string> runs;
  if (!lists_its_runs(study.method, study.composition)) return runs;
  StudyRun run(planned, study.spec);
  TrialBook book(store_, out_);
  while (!run.is_waiting() && !run.is_over()) {
    for (const auto& config : run.advance()) {
      const auto id = config.id();
      const auto end = book.earlier(config);
      if (!end) return end.error();
      if (*end) run.receive((**end).trial);
      const bool has_begun =
          *end || !is_missing_journal(out_.journal(id)) || std::filesystem::exists(out_.key(id));
      const bool is_listed = std::ranges::count(study.trials, id) > 0;
      if (has_begun && !is_listed && !is_others(id, study.id)) runs.push_back(id);
    }
  }
  return runs;
}

Result<void> AskedRuns::complete(results::StudyRecord& study) {
  const auto runs = of(study);
  return runs ? add(*runs, study) : runs.error();
}

Result<void> AskedRuns::complete(const PlannedStudy& planned, results::StudyRecord& study) {
  const auto runs = of(planned, study);
  return runs ? add(*runs, study) : runs.error();
}

Result<void> AskedRuns::add(const std::vector<std::string>& runs, results::StudyRecord& study) {
  TrialBook book(store_, out_);
  for (const auto& id : runs) {
    if (auto taken = book.take_in(id); !taken) return taken;
    study.trials.push_back(id);
  }
  return {};
}

Result<const std::vector<PlannedStudy>*> AskedRuns::plan_of(const std::string& spec) {
  const auto [known, is_new] = plans_.try_emplace(spec);
  if (!is_new) return &known->second;
  const auto record = store_.spec(spec);
  if (!record) return record.error();
  if (!*record) return &known->second;
  auto content = results::spec_of(**record);
  if (!content) return content.error();
  auto plan = plan_release({.path = spec, .text = (**record).text, .content = std::move(*content)});
  if (!plan) return plan.error();
  if (auto shown = show_draws(out_, *plan, spec); !shown) return shown.error();
  known->second = std::move(*plan);
  return &known->second;
}

bool AskedRuns::is_others(const std::string& run, const std::string& study) const {
  const auto known = studies_.find(run);
  return known != studies_.end() &&
         std::ranges::any_of(known->second, [&](const std::string& id) { return id != study; });
}

}  // namespace hyfreedp::runner
