#include "harness/runner/spec/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <utility>

#include "baselines/fixed_noise.h"
#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/mechanism/set_optimizer.h"
#include "harness/trial/config_text.h"
#include "optimizers/facts.h"

namespace hyfreedp::runner {
namespace {

constexpr double kNotPriced = 0;  // epsilon of a cell whose price is asked for

std::string digest(const json::value& value) { return sha256_hex(canonical_json(value)).substr(0, 16); }

// One constant learning rate. A baseline replaces it unless it trains at the panel's rate.
trial::Named default_controller() {
  const auto* facts = optimizers::find_controller("constant").value();
  return {facts->name, resolve_options(facts->options, {}, facts->name).value()};
}

// The plan that the cells of a row share: their sizes and their clipping, without any noise.
trial::PrivacyPlan shared_privacy(const spec::Panel& panel, const spec::Row& row) {
  const auto& train = panel.train;
  trial::PrivacyPlan plan{.is_private = false,
                          .sampler = train.sampler,
                          .population = panel.population,
                          .batch_size = train.batch_size,
                          .sample_rate = train.sample_rate,
                          .clipping = train.clipping,
                          .asked = train.asked};
  if (row.clipping_constant) plan.clipping.constant = *row.clipping_constant;
  plan.drop_noise();
  return plan;
}

// A private cell, or the control arm of one that is not. The gradient's noise is the baseline's to
// set.
void set_private(trial::PrivacyPlan& plan, bool is_private, const spec::Panel& panel, spec::Control control) {
  plan.is_private = is_private;
  if (is_private) {
    plan.clipping.adaptive = panel.train.clipping.adaptive;
    plan.asked = panel.train.asked;
    return;
  }
  if (control != spec::Control::clip_only) plan.drop_clipping();
  if (control == spec::Control::none) plan.sampler = trial::Sampler::shuffle;
}

// Everything that the trials of a row share, but for what depends on the cell.
trial::TrialConfig row_base(const spec::Spec& spec, const spec::Panel& panel, const spec::Row& row) {
  trial::TrialConfig base;
  base.dataset = panel.dataset;
  base.ood_test = panel.ood_test;
  base.model = panel.model;
  base.controller = default_controller();
  base.privacy = shared_privacy(panel, row);
  mechanism::set_optimizer(base, optimizer_of(panel, row));
  base.evaluation.every = panel.evaluate.every;
  base.evaluation.recorded = panel.evaluate.recorded;
  base.training = row.training.value_or(panel.train.training);
  base.steps = row.steps;
  base.noise_seed = spec.noise_seed;
  base.device = panel.train.device;
  return base;
}

// The cell of a row's column: its epsilon, or the noise multiplier that the panel fixes and what
// it costs.
Result<baselines::Cell> cell_of(const Spec& planned, const baselines::Baseline& method,
                                const spec::Panel& panel, const spec::Row& row,
                                const trial::TrialConfig& base, std::size_t column,
                                std::optional<double> epsilon) {
  auto accountant = baselines::noise_accountant(method, row.options, panel.accountant);
  if (!accountant) return in_context(panel.id + ", " + row.id, accountant.error());
  baselines::Cell cell{.panel = panel.id,
                       .row = row.id,
                       .epsilon = epsilon,
                       .delta = panel.delta,
                       .accountant = std::move(*accountant),
                       .options = row.options,
                       .base = base,
                       .validation_size = panel.validation,
                       .dimension = panel.dimension,
                       .calibrations = planned.calibrations};
  if (!panel.noise_multipliers.empty()) cell.noise_multiplier = panel.noise_multipliers[column];
  set_private(cell.base.privacy, cell.epsilon.has_value(), panel, row.control);
  return cell;
}

std::string place_of(const baselines::Cell& cell) {
  return fmt::format("{}, {}, noise_multiplier {}", cell.panel, cell.row, *cell.noise_multiplier);
}

// Checks that the epsilon which a spec, or a cell's file, gives for a fixed noise is what the runs
// with it cost.
Result<void> check_price(const baselines::Baseline& baseline, const baselines::Cell& cell) {
  const auto planned = baselines::planned_epsilon(baseline, cell);
  if (!planned) return in_context(place_of(cell), planned.error());
  if (cell.epsilon == *planned) return {};
  return error(fmt::format("{}: it costs epsilon {}, not {}", place_of(cell), *planned,
                           cell.epsilon ? spec::epsilon_text(*cell.epsilon) : "inf"));
}

// The noise multiplier, where the panel fixes it; the accountant, where the panel's sets other
// noise than that of a panel which says nothing.
json::array noise_said(const baselines::Baseline& method, const spec::Row& row, const baselines::Cell& cell) {
  if (cell.noise_multiplier) return {*cell.noise_multiplier};
  if (!cell.epsilon || cell.accountant == baselines::noise_accountant(method, row.options, "").value())
    return {};
  return {json::value(cell.accountant)};
}

// The ids of a cell's studies: the digest of the canonical JSON of the list
//   [spec, panel, row, method, epsilon, seed, delta, options, validation size, base]
// and what is said of its noise (noise_said).
class CellIdentity {
 public:
  CellIdentity(const std::string& spec, const std::string& method, double epsilon,
               const baselines::Cell& cell, const json::array& noise)
      : before_seed_(elements({spec, cell.panel, cell.row, method, number(epsilon)})),
        after_seed_(elements({cell.delta, cell.options, cell.validation_size})) {
    if (!noise.empty()) after_base_ = "," + elements(noise);
  }

  std::string id(std::int64_t seed, const std::string& base) const {
    const auto list =
        "[" + before_seed_ + "," + std::to_string(seed) + "," + after_seed_ + "," + base + after_base_ + "]";
    return sha256_hex(list).substr(0, 16);
  }

 private:
  static std::string elements(const json::array& list) {
    const auto text = canonical_json(list);
    return text.substr(1, text.size() - 2);
  }

  std::string before_seed_, after_seed_, after_base_;
};

Result<void> add_studies(const Spec& planned, const spec::Panel& panel, const spec::Row& row, StudyIds ids,
                         trial::ConfigText& texts, std::vector<PlannedStudy>& studies) {
  const auto baseline = baselines::find_baseline(row.method);
  if (!baseline) return baseline.error();
  const auto* reading = &baselines::reading_of(**baseline, row.options);
  const auto& spec = planned.content;
  const auto base = row_base(spec, panel, row);
  if (auto checked = base.privacy.check(); !checked) return in_context(panel.id, checked.error());
  // A cell's file (harness/runner/execute/cell_plan.h) may hold any numbers.
  if (!description::are_finite(panel.train) || !std::isfinite(panel.delta + base.privacy.clipping.constant)) {
    return error(panel.id + ": a setting is not finite");
  }
  if (!panel.noise_multipliers.empty() && row.epsilons.size() != panel.noise_multipliers.size()) {
    return error(fmt::format("{}, {}: {} noise multipliers and {} epsilons", panel.id, row.id,
                             panel.noise_multipliers.size(), row.epsilons.size()));
  }
  const auto sure_seeds = spec::has_sequential_seeds(panel, row)
                              ? std::optional<std::int64_t>(panel.sequential->from)
                              : std::nullopt;
  for (std::size_t column = 0; column < row.epsilons.size(); ++column) {
    const double epsilon = row.epsilons[column];
    const auto first = cell_of(planned, **baseline, panel, row, base, column, spec::target_of(epsilon));
    if (!first) return first.error();
    const CellIdentity identity(spec.name, row.method, epsilon, *first, noise_said(**baseline, row, *first));
    for (const auto seed : row.seeds) {
      auto cell = *first;
      cell.seed = seed;
      cell.base.seed = seed;
      if (cell.noise_multiplier) {
        if (auto checked = check_price(*reading, cell); !checked) return checked;
      }
      auto id = ids == StudyIds::computed ? identity.id(seed, texts.of(cell.base)) : std::string();
      studies.push_back({std::move(id), std::move(cell), reading, sure_seeds});
    }
  }
  return {};
}

}  // namespace

std::string Spec::hash() const { return digest(as_json(content)); }

Result<void> price_fixed_noise(Spec& spec) {
  for (auto& panel : spec.content.panels) {
    if (panel.noise_multipliers.empty()) continue;
    for (auto& row : panel.rows) {
      const auto baseline = baselines::find_baseline(row.method);
      if (!baseline) return baseline.error();
      const auto base = row_base(spec.content, panel, row);
      for (std::size_t column = 0; column < panel.noise_multipliers.size(); ++column) {
        const auto cell = cell_of(spec, **baseline, panel, row, base, column, kNotPriced);
        if (!cell) return cell.error();
        const auto epsilon =
            baselines::planned_epsilon(baselines::reading_of(**baseline, row.options), *cell);
        if (!epsilon) return in_context(place_of(*cell), epsilon.error());
        if (std::ranges::count(row.epsilons, *epsilon) > 0) {
          return error(
              fmt::format("{}: costs epsilon {}, as another does; leave one out", place_of(*cell), *epsilon));
        }
        row.epsilons.push_back(*epsilon);
      }
    }
  }
  return {};
}

namespace {

// Returns the configurations of the first runs of the row's cells, column by column.
Result<std::vector<std::string>> first_runs(const Spec& spec, const spec::Panel& panel,
                                            const spec::Row& row) {
  const auto baseline = baselines::find_baseline(row.method);
  if (!baseline) return baseline.error();
  const auto base = row_base(spec.content, panel, row);
  std::vector<std::string> runs;
  for (std::size_t column = 0; column < row.epsilons.size(); ++column) {
    const auto cell =
        cell_of(spec, **baseline, panel, row, base, column, spec::target_of(row.epsilons[column]));
    if (!cell) return cell.error();
    const auto next = baselines::reading_of(**baseline, row.options).next(*cell, {});
    if (!next) return next.error();
    for (const auto& config : *next) runs.push_back(canonical_json(config.to_json()));
  }
  return runs;
}

}  // namespace

Result<void> check_own_settings(const Spec& spec) {
  using Drop = void (*)(spec::Row&, const spec::Panel&);
  static constexpr std::array<std::pair<const char*, Drop>, 4> kOwn = {{
      {"train.optimizer", [](auto& row, const auto&) { row.optimizer.reset(); }},
      {"train.clipping_constant", [](auto& row, const auto&) { row.clipping_constant.reset(); }},
      {"train", [](auto& row, const auto&) { row.training.reset(); }},
      {"steps", [](auto& row, const auto& panel) { row.steps = panel.train.steps; }},
  }};
  for (const auto& panel : spec.content.panels) {
    for (const auto& row : panel.rows) {
      // The panel's free step and a row's average do not go together, whatever the method does.
      const auto& options = panel.train.optimizer.options;
      if (row.training && hyfreedp::read_options<optimizers::EndOptions>(options).free_step) continue;
      for (const auto& [name, drop] : kOwn) {
        auto other = row;
        drop(other, panel);
        // Said as the panel has it, it changes nothing either way.
        if (row_base(spec.content, panel, other).to_json() == row_base(spec.content, panel, row).to_json())
          continue;
        const auto with = first_runs(spec, panel, row), without = first_runs(spec, panel, other);
        if (!with || !without || with->empty() || *with != *without) continue;
        return error(
            fmt::format("{}, {}: the row's own '{}' has no effect: {} trains with what it brings itself. "
                        "Leave it out, or "
                        "see `hyfreedp list methods {}` for what the method lets you choose.",
                        panel.id, row.id, name, row.method, row.method));
      }
    }
  }
  return {};
}

Result<std::vector<PlannedStudy>> plan(const Spec& spec, StudyIds ids) {
  std::vector<PlannedStudy> studies;
  trial::ConfigText texts;
  for (const auto& panel : spec.content.panels) {
    for (const auto& row : panel.rows) {
      if (auto added = add_studies(spec, panel, row, ids, texts, studies); !added)
        return in_context(spec.path, added.error());
    }
  }
  return studies;
}

double expected_runs(const PlannedStudy& study) {
  if (!study.baseline->confidential_runs || !study.baseline->selection) return 1;
  const auto selection = study.baseline->selection(study.cell);
  return selection && selection->mean > 0 && std::isfinite(selection->mean) ? selection->mean : 1;
}

std::size_t count_cells(const std::vector<PlannedStudy>& studies) {
  std::set<std::tuple<std::string, std::string, std::optional<double>>> cells;
  for (const auto& study : studies) cells.insert({study.cell.panel, study.cell.row, study.cell.epsilon});
  return cells.size();
}

std::string size_text(std::size_t studies, std::size_t cells) {
  return counted(static_cast<std::int64_t>(studies), "study", "studies") + " of " +
         counted(static_cast<std::int64_t>(cells), "cell");
}

}  // namespace hyfreedp::runner
