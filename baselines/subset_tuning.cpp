#include "baselines/subset_tuning.h"

#include <fmt/format.h>
#include <utility>

#include "baselines/private_selection.h"
#include "baselines/search.h"
#include "harness/random/partition.h"

namespace hyfreedp::baselines {
namespace {

using Configs = std::vector<trial::TrialConfig>;

struct SubsetOptions {
  double share = 0.1;
  std::vector<double> grid = wide_grid();
  ScoreOptions score;
  static constexpr std::array kInlined = {"score"};
};
BOOST_DESCRIBE_STRUCT(SubsetOptions, (), (share, grid, score))

constexpr const char* kEmptyPart =
    "A part of the data has no record; choose a 'share' that leaves some in both.";

// The cell's run on a part; nothing where the part is empty.
std::optional<trial::TrialConfig> on_part(const Cell& cell, const char* name, double rate) {
  auto config = at_rate(cell, 0, rate);
  const random::Part part{.name = name,
                          .rate = read_options<SubsetOptions>(cell.options).share,
                          .key = fmt::format("seed {}", cell.seed)};
  auto& plan = config.privacy;
  const auto records = static_cast<std::int64_t>(random::part_indices(part, plan.population).size());
  if (records == 0) return std::nullopt;
  config.dataset.options = random::with_part(std::move(config.dataset.options), part);
  plan.batch_size *= static_cast<double>(records) / static_cast<double>(plan.population);
  plan.population = records;
  return config;
}

// The state of the method after the finished runs.
struct Progress {
  Configs tuning;
  std::optional<trial::TrialConfig> final_run;
  Configs rest = {};                    // the final run, where no run of the tuning can be reported
  std::optional<Failure> failure = {};  // of the cell: nothing can be run

  Composition composition() const {
    Composition composition{.rule = Composition::Rule::sum};
    for (const auto& config : tuning) composition.parts[config.id()] = random::kTuningPart;
    if (final_run) composition.parts[final_run->id()] = random::kRestPart;
    for (const auto& [id, part] : composition.parts) composition.trials.push_back(id);
    return composition;
  }
};

Result<Progress> progress(const Cell& cell, Finished finished) {
  Progress state;
  Configs candidates;
  const auto grid = read_options<SubsetOptions>(cell.options).grid;
  for (const double rate : grid) {
    auto config = on_part(cell, random::kTuningPart, rate);
    if (config) candidates.push_back(std::move(*config));
  }
  auto final_run = on_part(cell, random::kRestPart, 0);
  if (grid.empty()) {
    state.failure = Failure{"empty-grid", kEmptyGrid};
  } else if (candidates.empty() || !final_run) {
    state.failure = Failure{"empty-part", kEmptyPart};
  }
  if (state.failure) return state;
  const auto noise = noise_for(cell, final_run->privacy, final_run->steps, cell.epsilon);
  if (!noise) return noise.error();
  auto runs = composed_runs(cell, candidates);
  if (!runs) return runs.error();
  auto chosen = candidates.front().controller;  // of one candidate nothing need be tuned
  if (candidates.size() > 1) {
    state.tuning = std::move(*runs);
    if (!unfinished(state.tuning, finished).empty()) return state;
    const auto* best = best_of(state.tuning, finished, released_score);
    if (best == nullptr) {
      final_run->privacy.gradient_noise = *noise;
      state.rest.push_back(std::move(*final_run));
      return state;
    }
    chosen = best->config.controller;
  }
  final_run->privacy.gradient_noise = *noise;
  final_run->controller = std::move(chosen);
  state.final_run = std::move(final_run);
  return state;
}

Result<Configs> next(const Cell& cell, Finished finished) {
  const auto state = progress(cell, finished);
  if (!state || state->failure) return Configs{};
  auto wanted = state->tuning;
  if (state->final_run) wanted.push_back(*state->final_run);
  return unfinished(wanted, finished);
}

Result<Conclusion> conclude(const Cell& cell, Finished finished) {
  const auto state = progress(cell, finished);
  if (!state) return infeasible(state.error());
  if (state->failure) return failed(state->failure->kind, state->failure->message);
  Conclusion conclusion;
  if (!state->final_run) {
    conclusion = all_failed(state->tuning, finished, state->rest, random::kRestPart);
    conclusion.composition.parts = state->composition().parts;
    return conclusion;
  }
  const auto* reported = find_finished(finished, *state->final_run);
  if (reported == nullptr) return error("the final run " + state->final_run->id() + " has not finished");
  conclusion.composition = state->composition();
  report_final(*reported, conclusion);
  return conclusion;
}

std::vector<OptionSpec> option_table() {
  std::vector<OptionSpec> table = {
      ranged_option("share", 1e-3, 0.999, "of the training data that is for tuning only"),
      grid_option("grid", "candidate learning rates")};
  for (auto& option : score_options([](OptionSpec one) { return only_above("grid", 1, std::move(one)); }))
    table.push_back(std::move(option));
  return options_of<SubsetOptions>(std::move(table));
}

}  // namespace

Baseline subset_tuning() {
  return {
      .name = "subset-tuning",
      .title = "Tuning on a subset",
      .source = "Koskela and Kulkarni, NeurIPS 2023",
      .summary =
          "Rates tried on a random part of the data, the best run on the rest; parts compose in parallel.",
      .has_non_private_arm = false,
      .needs_epsilon = "gives its search and its last run the whole of epsilon each",
      .releases_scores = [](const json::object&) { return true; },
      .options = option_table(),
      .next = next,
      .conclude = conclude};
}

}  // namespace hyfreedp::baselines
