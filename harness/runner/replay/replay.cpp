#include "harness/runner/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

#include "harness/mechanism/releases.h"
#include "harness/random/draws.h"
#include "harness/runner/execute/study_run.h"
#include "results/table/statistics.h"

namespace hyfreedp::runner {
namespace {

constexpr double kPercent = 100;
constexpr double kNormal975 = 1.959963984540054;

random::Draws draws_for(const std::string& what) {
  return {random::key_from_seed("replay " + what), {.purpose = random::Purpose::selection}};
}

void add_once(std::vector<std::string>& list, const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  }
}

class Replay {
 public:
  Replay(const PlannedStudy& study, const ReplayPool& pool, const ReplayOptions& options, StudyPricer& pricer)
      : study_(study), pool_(pool), options_(options), pricer_(pricer) {
    const auto& cell = study.cell;
    row_.panel = cell.panel;
    row_.row = cell.row;
    row_.method = study.baseline->name;
    row_.epsilon_target = cell.epsilon;
    row_.repeats = options.repeats;
    address_ = fmt::format("{} {} {} {}", options.seed, cell.panel, cell.row,
                           cell.epsilon ? canonical_json(number(*cell.epsilon)) : "inf");
  }

  Result<ReplayedRow> run() {
    const auto groups = std::clamp<std::int64_t>(options_.groups, 1, options_.repeats);
    for (std::int64_t repeat = 0; repeat < options_.repeats; ++repeat) {
      const auto group = repeat * groups / options_.repeats;
      if (group != group_) {
        close_group();
        group_ = group;
        resampled_.clear();
      }
      if (auto done = run_once(repeat); !done) return done.error();
    }
    close_group();
    summarise();
    return std::move(row_);
  }

 private:
  Result<void> run_once(std::int64_t repeat) {
    auto study = study_;
    study.cell.draw_secret = fmt::format("replay {} {}", address_, repeat);
    auto draws = draws_for(fmt::format("{} repeat {}", address_, repeat));
    StudyRun run(std::move(study), "replay");
    wanted_.clear();
    test_.clear();
    while (!run.is_over()) {
      for (const auto& config : run.advance()) {
        const auto trial = trial_for(config, draws);
        if (!trial) return in_context(describe(), trial.error());
        run.receive(*trial);
      }
    }
    if (run.failed_unexpectedly())
      return error(fmt::format("{}: {}", describe(), run.outcome().failure_message));
    return record(run);
  }

  Result<baselines::FinishedTrial> trial_for(const trial::TrialConfig& config, random::Draws& draws) {
    const auto match = pool_.find(config, options_.max_rate_factor, draws.uniform());
    if (!match) return match.error();
    ++row_.requests;
    if (match->rate_factor > 1) ++row_.snapped;
    if (match->between_noises) ++row_.between_noises;
    row_.largest_rate_factor = std::max(row_.largest_rate_factor, match->rate_factor);
    fewest_seeds_ = std::min(fewest_seeds_, match->cell->runs.size());
    const auto& pooled = pick(*match->cell, draws);
    baselines::FinishedTrial trial{.id = config.id(), .config = config};
    trial.failed = pooled.failed;
    trial.failure_kind = pooled.failure_kind;
    wanted_.emplace(trial.id, config);
    if (pooled.failed) return trial;
    test_[trial.id] = pooled.test;
    const auto& asked = config.evaluation;
    if ((asked.score || asked.oracle_validation) && !pooled.validation) {
      return error("The pooled run " + pooled.trial +
                   " has no un-noised validation accuracy; make the pool of nondp-gs rows.");
    }
    if (asked.score && asked.score->loss_bound > 0) {
      return error("A pool keeps accuracies, and 'score_loss_bound' scores runs by losses; leave it out.");
    }
    if (asked.oracle_train && !pooled.train) {
      return error("The pooled run " + pooled.trial + " has no un-noised training accuracy.");
    }
    if (asked.oracle_validation) trial.oracle_validation = pooled.validation;
    if (asked.oracle_train) trial.oracle_train = pooled.train;
    if (asked.score) {
      const auto size = static_cast<double>(study_.cell.validation_size);
      trial.released_score = *pooled.validation + asked.score->noise_counts * draws.normal() / size;
    }
    return trial;
  }

  // One of the seeds that this group has in the cell.
  const PooledRun& pick(const PooledCell& cell, random::Draws& draws) {
    auto& seeds = resampled_[cell.index];
    if (seeds.empty()) {
      auto resampling = draws_for(fmt::format("{} group {} cell {}", address_, group_, cell.index));
      for (std::size_t i = 0; i < cell.runs.size(); ++i) {
        seeds.push_back(static_cast<std::size_t>(resampling.below(cell.runs.size())));
      }
    }
    return cell.runs[seeds[static_cast<std::size_t>(draws.below(seeds.size()))]];
  }

  Result<void> record(const StudyRun& run) {
    const auto& outcome = run.outcome();
    row_.label = fmt::format("simulated (of: {})", outcome.label);
    add_once(row_.flags, outcome.flags);
    auto priced = outcome;
    const auto executed = [&](const std::string& id) -> Result<std::vector<accounting::Event>> {
      const auto known = wanted_.find(id);
      if (known == wanted_.end()) return error("a composition names a run that was not wanted");
      return mechanism::events(known->second);
    };
    // Only what the composition lists is priced, not the study's other runs: the runs of a
    // selection all book the same.
    priced.trials.clear();
    priced.reported_trial.clear();
    if (auto done = pricer_.price(priced, run.composition(), executed); !done) return done.error();
    if (priced.total) row_.epsilon = std::max(row_.epsilon.value_or(0), priced.total->epsilon);
    if (outcome.reported_trial.empty()) {
      ++row_.failed[outcome.failure_kind];
      return {};
    }
    group_values_.push_back(kPercent * test_.at(outcome.reported_trial));
    return {};
  }

  void close_group() {
    if (group_values_.empty()) return;
    group_means_.push_back(results::mean(group_values_));
    values_.insert(values_.end(), group_values_.begin(), group_values_.end());
    group_values_.clear();
  }

  void summarise() {
    row_.reported = static_cast<std::int64_t>(values_.size());
    row_.runs = static_cast<double>(row_.requests) / static_cast<double>(row_.repeats);
    if (values_.empty()) return;
    row_.mean = results::mean(values_);
    const double half = kNormal975 * std::sqrt(variance_of_mean());
    row_.low = row_.mean - half;
    row_.high = row_.mean + half;
    row_.percentile10 = results::quantile(values_, 0.1);
    row_.percentile90 = results::quantile(values_, 0.9);
  }

  // Returns the variance of the mean over repeats, as an estimate for a pool with endless seeds.
  double variance_of_mean() const {
    const auto sd = results::sample_sd(values_);
    const auto sd_of_groups = results::sample_sd(group_means_);
    if (!sd || !sd_of_groups) return 0;
    const double of_draws = *sd * *sd;
    const auto in_group = static_cast<double>(values_.size()) / static_cast<double>(group_means_.size());
    const double of_pool = std::max(0.0, *sd_of_groups * *sd_of_groups - of_draws / in_group);
    const auto seeds = static_cast<double>(fewest_seeds_);
    const double shrinkage = seeds > 1 ? seeds / (seeds - 1) : 1;
    return shrinkage * of_pool + of_draws / static_cast<double>(values_.size());
  }

  std::string describe() const {
    return fmt::format("row {} of panel {}{}", row_.row, row_.panel,
                       row_.epsilon_target ? fmt::format(" at epsilon {}", *row_.epsilon_target) : "");
  }

  const PlannedStudy& study_;
  const ReplayPool& pool_;
  const ReplayOptions& options_;
  StudyPricer& pricer_;
  ReplayedRow row_;
  std::string address_;
  std::int64_t group_ = -1;
  // of the cells that were asked for
  std::size_t fewest_seeds_ = std::numeric_limits<std::size_t>::max();
  std::map<std::size_t, std::vector<std::size_t>> resampled_;  // by pooled cell
  std::map<std::string, trial::TrialConfig> wanted_;           // of the repeat
  std::map<std::string, double> test_;                         // of the repeat: accuracy by trial
  std::vector<double> group_values_;
  std::vector<double> group_means_;
  std::vector<double> values_;
};

}  // namespace

Result<ReplayedRow> replay(const PlannedStudy& study, const ReplayPool& pool, const ReplayOptions& options,
                           StudyPricer& pricer) {
  return Replay(study, pool, options, pricer).run();
}

Result<std::vector<ReplayedRow>> replay_spec(const Spec& spec, const ReplayPool& pool,
                                             const ReplayOptions& options) {
  const auto studies = plan(spec);
  if (!studies) return studies.error();
  std::vector<ReplayedRow> rows;
  StudyPricer pricer;
  std::set<std::string> seen;
  for (const auto& study : *studies) {
    const auto& cell = study.cell;
    const auto epsilon = cell.epsilon ? canonical_json(number(*cell.epsilon)) : "inf";
    if (!seen.insert(fmt::format("{}/{}/{}", cell.panel, cell.row, epsilon)).second) continue;
    auto row = replay(study, pool, options, pricer);
    if (!row) return row.error();
    rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace hyfreedp::runner
