#include "baselines/search.h"

#include <map>
#include <memory>
#include <utility>

#include "baselines/private_selection.h"

namespace hyfreedp::baselines {
namespace {

using Configs = std::vector<trial::TrialConfig>;

struct TuningOptions {
  Tuning tuning = Tuning::selection;
  SelectionOptions selection;
  static constexpr std::array kInlined = {"selection"};
};
BOOST_DESCRIBE_STRUCT(TuningOptions, (), (tuning, selection))

std::vector<OptionSpec> tuning_options(Tuning default_tuning) {
  auto table = selection_options(true);
  table.insert(table.begin(),
               plain_option("tuning",
                            "private selection; all candidates run and charged; or an uncharged oracle, and "
                            "labelled so"));
  for (auto& option : table) {
    if (option.name == "runs" || option.name == "mean_runs")
      option = only_with("tuning", name_of(Tuning::selection), std::move(option));
    if (option.name == "score_noise" || option.name == "score_loss_bound")
      option = only_without("tuning", name_of(Tuning::oracle), std::move(option));
  }
  return options_of<TuningOptions>(std::move(table), {.tuning = default_tuning});
}

// Refuses options of scores for a single candidate, which releases none: nothing is chosen.
Result<void> check_tuning(const json::object& resolved, std::int64_t candidates) {
  const auto options = read_options<TuningOptions>(resolved);
  if (options.tuning != Tuning::composed || candidates > 1 || options.selection.score == ScoreOptions{})
    return {};
  return error(
      "'score_noise' and 'score_loss_bound' are not read where a single candidate is run; leave them out.");
}

Conclusion conclude_composed(const Configs& runs, Finished finished) {
  const auto score = [&](const FinishedTrial& trial) {
    return runs.size() > 1 ? released_score(trial) : std::optional<double>(0);
  };
  const auto* best = best_of(runs, finished, score);
  if (best == nullptr) return all_failed(runs, finished);
  Conclusion conclusion;
  conclusion.composition.rule = Composition::Rule::sum;
  for (const auto& config : runs) conclusion.composition.trials.push_back(config.id());
  conclusion.reported_trial = best->id;
  return conclusion;
}

Conclusion conclude_oracle(const Cell& cell, const Configs& runs, Finished finished) {
  const auto* best = best_of(runs, finished, oracle_score);
  auto conclusion = best == nullptr ? all_failed(runs, finished) : Conclusion{};
  if (best != nullptr) conclusion.reported_trial = best->id;
  if (!cell.epsilon) {
    conclusion.composition = no_cost();
  } else if (best != nullptr) {
    conclusion.composition = one_trial(best->id);
  }
  return conclusion;
}

Result<Configs> runs_of(const Cell& cell, Tuning tuning, const Configs& candidates) {
  switch (tuning) {
    case Tuning::selection:
      return selection_runs(cell, selection_rule_of(cell, candidates.size()), candidates);
    case Tuning::composed:
      return composed_runs(cell, candidates);
    case Tuning::oracle:
      return oracle_runs(cell, candidates, cell.epsilon);
  }
  return Configs{};
}

Result<Conclusion> conclude(const Cell& cell, Tuning tuning, const Configs& candidates, Finished finished) {
  if (candidates.empty()) return failed("empty-grid", kEmptyGrid);
  if (tuning == Tuning::selection) {
    return conclude_selection(cell, selection_rule_of(cell, candidates.size()), candidates, finished);
  }
  const auto runs = runs_of(cell, tuning, candidates);
  if (!runs) return infeasible(runs.error());
  return tuning == Tuning::composed ? conclude_composed(*runs, finished)
                                    : conclude_oracle(cell, *runs, finished);
}

}  // namespace

Result<Configs> composed_runs(const Cell& cell, Configs candidates) {
  const auto runs = static_cast<std::int64_t>(candidates.size());
  std::int64_t steps = 0;
  for (const auto& config : candidates) {
    HYFREEDP_CHECK(config.privacy.sample_rate == candidates.front().privacy.sample_rate,
                   "candidates of one composition are sampled at one rate");
    steps += config.steps;
  }
  const auto score = read_options<ScoreOptions>(cell.options);
  const bool is_scored = runs > 1;
  for (auto& config : candidates) {
    const auto noise = noise_for(cell, config.privacy, steps, cell.epsilon, runs);
    if (!noise) return noise.error();
    config.privacy.gradient_noise = *noise;
    if (is_scored) config.evaluation.score = score.release();
  }
  if (is_scored) {
    if (auto checked = check_scores(cell, runs, score.score_noise); !checked) return checked.error();
  }
  make_independent(candidates);
  return candidates;
}

Result<Configs> oracle_runs(const Cell& cell, const Configs& candidates, std::optional<double> epsilon) {
  Configs configs;
  for (auto config : candidates) {
    const auto noise = noise_for(cell, config.privacy, config.steps, epsilon);
    if (!noise) return noise.error();
    config.privacy.gradient_noise = *noise;
    config.evaluation.oracle_validation = true;
    configs.push_back(std::move(config));
  }
  return configs;
}

void make_search(Baseline& baseline, Tuning tuning, const Candidates& candidates) {
  baseline.label = tuning == Tuning::oracle ? Label::oracle : Label::end_to_end;
  baseline.single_round = true;
  baseline.confidential_runs = tuning == Tuning::selection;
  baseline.selection = nullptr;
  baseline.releases_scores = [tuning](const json::object&) { return tuning != Tuning::oracle; };
  baseline.needs_rdp = nullptr;
  if (tuning == Tuning::selection) {
    baseline.needs_rdp = [](const json::object&) { return "RDP alone prices a private selection"; };
    baseline.selection = [candidates](const Cell& cell) {
      const auto all = candidates(cell);
      return selection_cost(cell, selection_rule_of(cell, all.size()), all);
    };
  }
  baseline.next = [tuning, candidates](const Cell& cell, Finished finished) -> Result<Configs> {
    const auto all = candidates(cell);
    if (all.empty()) return Configs{};
    const auto wanted = runs_of(cell, tuning, all);
    if (!wanted) return Configs{};
    return unfinished(*wanted, finished);
  };
  const Label label = baseline.label;
  baseline.conclude = [tuning, candidates, label](const Cell& cell, Finished finished) -> Result<Conclusion> {
    auto conclusion = conclude(cell, tuning, candidates(cell), finished);
    if (conclusion) conclusion->label = cell.epsilon ? label : Label::non_private;
    return conclusion;
  };
}

void offer_tunings(Baseline& baseline, Tuning default_tuning, const Candidates& candidates,
                   const CandidateCount& count) {
  baseline.check = [count](const json::object& options) { return check_tuning(options, count(options)); };
  for (auto& option : tuning_options(default_tuning)) baseline.options.push_back(std::move(option));
  baseline.has_non_private_arm = false;
  auto readings = std::make_shared<std::map<Tuning, Baseline>>();
  for (const auto tuning : {Tuning::selection, Tuning::composed, Tuning::oracle}) {
    make_search(readings->emplace(tuning, baseline).first->second, tuning, candidates);
  }
  make_search(baseline, default_tuning, candidates);
  baseline.reading = [readings](const json::object& options) -> const Baseline& {
    return readings->at(read_options<TuningOptions>(options).tuning);
  };
}

}  // namespace hyfreedp::baselines
