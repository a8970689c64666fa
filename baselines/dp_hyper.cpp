#include "baselines/dp_hyper.h"

#include <fmt/format.h>

#include "baselines/memo.h"
#include "baselines/run_count.h"
#include "baselines/support.h"
#include "harness/base/text.h"

namespace hyfreedp::baselines {
namespace {

constexpr const char* kValidation = "private_validation";

struct Search {
  RunCount distribution = RunCount::geometric;
  double mean = 4;
  double score_noise = 30;
  std::vector<double> grid;
};

Search search_of(const Cell& cell) {
  return {.distribution = run_count_from(string_or(cell.options, "runs", "geometric")).value(),
          .mean = double_or(cell.options, "mean_runs", 4),
          .score_noise = double_or(cell.options, "score_noise", 30),
          .grid = list_of(cell.options, "grid")};
}

Composition selection_over(const Search& search, std::vector<std::string> trials) {
  return {.rule = Composition::Rule::selection,
          .trials = std::move(trials),
          .selection = selection_of(search.distribution, search.mean)};
}

// The selection over runs of `gradients` and a score.
accounting::Selection intended_selection(const Search& search, std::vector<accounting::Event> gradients) {
  auto selection = selection_of(search.distribution, search.mean);
  selection.base = std::move(gradients);
  selection.base.push_back(
      accounting::batch(1, {{.noise_multiplier = search.score_noise, .purpose = "score"}}, 1));
  selection.base.back().split = kValidation;
  return selection;
}

accounting::Events intended_events(const Search& search, std::vector<accounting::Event> gradients) {
  return {.events = selection_by_split(intended_selection(search, std::move(gradients)))};
}

// No gradient noise helps where the scores alone exceed the target.
Result<void> check_scores(const Cell& cell, const Search& search) {
  const auto cost = accounting::epsilon_rdp(intended_events(search, {}), cell.delta);
  if (!cost) return cost.error();
  if (cost->epsilon <= *cell.epsilon) return {};
  return error(
      fmt::format("Selecting by validation scores alone costs epsilon {} of {}; raise 'score_noise'.",
                  short_number(cost->epsilon), *cell.epsilon));
}

Result<double> noise(const Cell& cell, const Search& search) {
  static Memo<double> memo;
  const auto key = fmt::format("{} {} {} {} {} {} {} {}", cell.base.privacy.sample_rate, cell.base.steps,
                               *cell.epsilon, cell.delta, static_cast<int>(search.distribution), search.mean,
                               search.score_noise, count_noise(cell));
  return memo.get(key, [&]() -> Result<double> {
    if (auto checked = check_scores(cell, search); !checked) return checked.error();
    const auto events_at = [&](double sigma) {
      auto plan = cell.base.privacy;
      plan.gradient_noise = sigma;
      return intended_events(search, plan.events(0, cell.base.steps));
    };
    const auto calibration = accounting::calibrate(events_at, *cell.epsilon, cell.delta, "rdp");
    if (!calibration) return calibration.error();
    return calibration->noise_multiplier;
  });
}

Result<accounting::Selection> selection(const Cell& cell) {
  const auto search = search_of(cell);
  if (search.grid.empty()) return error("The grid has no learning rate.");
  const auto sigma = noise(cell, search);
  if (!sigma) return sigma.error();
  auto plan = cell.base.privacy;
  plan.gradient_noise = *sigma;
  return intended_selection(search, plan.events(0, cell.base.steps));
}

// The winner's repetition is public (it is in its config and its id), so it must not tell how many runs there were:
// a label drawn for each run by itself says nothing of the run's place among them, as a counter would.
std::int64_t repetition_of(const Cell& cell, std::int64_t run) {
  return cell.base.repetition + 1 + pick(draw(cell, "label", run), kRepetitionsPerRelease - 2);
}

Result<std::vector<trial::TrialConfig>> runs(const Cell& cell, const Search& search) {
  const auto sigma = noise(cell, search);
  if (!sigma) return sigma.error();
  const double parameter = search.distribution == RunCount::geometric     ? geometric_parameter(search.mean)
                           : search.distribution == RunCount::logarithmic ? logarithmic_parameter(search.mean)
                                                                          : search.mean;
  const auto count = run_count(search.distribution, parameter, draw(cell, "run count", 0));
  std::vector<trial::TrialConfig> configs;
  for (std::int64_t run = 0; run < count; ++run) {
    const auto candidate = pick(draw(cell, "candidate", run), static_cast<std::int64_t>(search.grid.size()));
    auto config = at_rate(cell, *sigma, search.grid[static_cast<std::size_t>(candidate)]);
    config.evaluation.score = trial::ScoreRelease{search.score_noise};
    config.repetition = repetition_of(cell, run);
    configs.push_back(std::move(config));
  }
  make_independent(configs);  // should two labels be equal
  return configs;
}

Result<std::vector<trial::TrialConfig>> next(const Cell& cell, Finished finished) {
  const auto search = search_of(cell);
  if (search.grid.empty()) return std::vector<trial::TrialConfig>{};
  const auto wanted = runs(cell, search);
  if (!wanted) return std::vector<trial::TrialConfig>{};
  return unfinished(*wanted, finished);
}

Result<Conclusion> conclude(const Cell& cell, Finished finished) {
  const auto search = search_of(cell);
  if (search.grid.empty()) return failed("empty-grid", "The grid has no learning rate.");
  const auto wanted = runs(cell, search);
  if (!wanted) return infeasible(wanted.error());
  if (wanted->empty())
    return failed("no-run-drawn", "The drawn number of runs is 0, so nothing is released.");
  const auto* best = best_of(*wanted, finished, released_score);
  // Which runs failed, and how many there were, is confidential; the reader learns that nothing can be reported.
  auto conclusion = best == nullptr ? failed("all-trials-failed", "No run of the selection can be reported.")
                                    : Conclusion{};
  const auto& shown = best == nullptr ? wanted->front().id() : best->id;
  conclusion.composition = selection_over(search, {shown});
  if (best != nullptr) conclusion.reported_trial = best->id;
  if (!cell.base.noise_seed && !cell.draw_secret)
    conclusion.flags.push_back("selection drawn from a public stream: count not hidden");
  return conclusion;
}

}  // namespace

Baseline dp_hyper() {
  return {.name = "dp-hyper",
          .title = "DP-hyper (private selection)",
          .source = "Papernot and Steinke, ICLR 2022",
          .summary = "Random search by private selection: the search is charged.",
          .has_non_private_arm = false,
          .confidential_runs = true,
          .selection = selection,
          .options = {choice_option("runs", {"geometric", "logarithmic", "poisson"},
                                    "distribution of their number"),
                      real_option("mean_runs", 4, 1.001, 1e4, "mean number of runs"),
                      real_option("score_noise", 30, 1e-6, 1e9, "of the validation score",
                                  "sd in counts of correct examples"),
                      grid_option("grid", wide_grid(), "candidate learning rates")},
          .next = next,
          .conclude = conclude};
}

}  // namespace hyfreedp::baselines
