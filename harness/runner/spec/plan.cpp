#include "harness/runner/spec/plan.h"

#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "optimizers/facts.h"

namespace hyfreedp::runner {
namespace {

std::string digest(const json::value& value) { return sha256_hex(canonical_json(value)).substr(0, 16); }

trial::Named named(const json::object& panel, const char* key) {
  const auto& object = panel.at(key).as_object();
  return {std::string(object.at("name").as_string()), object.at("options").as_object()};
}

// What a baseline replaces unless it trains at the panel's rate: one constant learning rate.
trial::Named default_controller() {
  const auto* facts = optimizers::find_controller("constant").value();
  return {facts->name, resolve_options(facts->options, {}, facts->name).value()};
}

// Everything of a panel that all its trials share. Noise is the baseline's to set.
Result<trial::TrialConfig> panel_base(const json::object& panel, const json::value& noise_seed) {
  json::object described{{"is_private", false},
                         {"sampler", panel.at("sampler")},
                         {"population", panel.at("population")},
                         {"batch_size", panel.at("batch_size")},
                         {"sample_rate", panel.at("sample_rate")},
                         {"clipping", panel.at("clipping")},
                         {"clipping_constant", panel.at("clipping_constant")},
                         {"gradient_noise", 0.0},
                         {"accounting", "plain"}};
  for (const char* key : {"clipping_groups", "clipping_shares", "adaptive", "feature_mean"}) {
    if (const auto* given = panel.if_contains(key)) described[key] = *given;
  }
  // Until a cell is private, see set_private.
  if (described.contains("adaptive")) described.at("adaptive").as_object()["count_noise"] = 0.0;
  if (described.contains("feature_mean")) described.at("feature_mean").as_object()["noise"] = 0.0;
  auto privacy = trial::PrivacyPlan::from_json(described, std::string(panel.at("id").as_string()));
  if (!privacy) return privacy.error();
  trial::TrialConfig base;
  base.dataset = named(panel, "dataset");
  base.model = named(panel, "model");
  base.optimizer = named(panel, "optimizer");
  base.controller = default_controller();
  base.privacy = std::move(*privacy);
  base.evaluation.every = panel.at("evaluate_every").to_number<std::int64_t>();
  base.evaluation.gradient_norms = panel.contains("gradient_norms");
  base.evaluation.released_norms = panel.contains("released_norms");
  base.evaluation.noise_residual = panel.contains("noise_residual");
  base.device = std::string(panel.at("device").as_string());
  if (noise_seed.is_string()) base.noise_seed = std::string(noise_seed.get_string());
  return base;
}

// The panel as a row with an optimizer or a clipping constant of its own sees it.
json::object as_row_sees(const json::object& panel, const json::object& row) {
  auto seen = panel;
  for (const char* key : {"optimizer", "clipping_constant"}) {
    if (const auto* own = row.if_contains(key)) seen[key] = *own;
  }
  return seen;
}

// What a row says of its training, or else the panel.
Result<trial::TrainingOptions> training_of(const json::object& panel, const json::object& row) {
  const auto* given = row.if_contains("training");
  if (given == nullptr) given = panel.if_contains("training");
  if (given == nullptr) return trial::TrainingOptions{};
  return trial::TrainingOptions::from_json(given->as_object(), std::string(row.at("id").as_string()));
}

// A private cell, or the control arm of one that is not (spec.h). Only a private one has noise.
void set_private(trial::PrivacyPlan& privacy, bool is_private, const json::object& panel,
                 const std::string& control) {
  privacy.is_private = is_private;
  if (is_private) {
    if (privacy.adaptive) {
      privacy.adaptive->count_noise = double_or(panel.at("adaptive").as_object(), "count_noise", 0);
    }
    if (privacy.feature_mean) {
      privacy.feature_mean->noise = double_or(panel.at("feature_mean").as_object(), "noise", 0);
    }
    return;
  }
  if (control != "clip-only") privacy.drop_clipping();
  if (control == "none") privacy.sampler = trial::Sampler::shuffle;
}

}  // namespace

std::string Spec::hash() const { return digest(resolved); }

Result<std::vector<PlannedStudy>> plan(const Spec& spec) {
  std::vector<PlannedStudy> studies;
  for (const auto& panel_value : spec.resolved.at("panels").as_array()) {
    const auto& panel = panel_value.as_object();
    for (const auto& row_value : panel.at("rows").as_array()) {
      const auto& row = row_value.as_object();
      const auto base = panel_base(as_row_sees(panel, row), spec.resolved.at("noise_seed"));
      if (!base) return in_context(spec.path, base.error());
      const auto baseline = baselines::find_baseline(std::string(row.at("method").as_string()));
      if (!baseline) return in_context(spec.path, baseline.error());
      const auto training = training_of(panel, row);
      if (!training) return in_context(spec.path, training.error());
      for (const auto& epsilon : row.at("epsilons").as_array()) {
        for (const auto& seed : row.at("seeds").as_array()) {
          baselines::Cell cell{.panel = std::string(panel.at("id").as_string()),
                               .row = std::string(row.at("id").as_string()),
                               .epsilon = {},
                               .delta = double_or(panel, "delta", 0),
                               .seed = seed.to_number<std::int64_t>(),
                               .options = row.at("options").as_object(),
                               .base = *base,
                               .validation_size = int_or(panel, "validation", 0),
                               .dimension = int_or(panel, "dimension", 0),
                               .calibrations = spec.calibrations};
          if (!epsilon.is_string()) cell.epsilon = epsilon.to_number<double>();
          cell.base.seed = cell.seed;
          cell.base.training = *training;
          cell.base.steps = row.at("steps").to_number<std::int64_t>();
          set_private(cell.base.privacy, cell.epsilon.has_value(), panel,
                      string_or(row, "control", "sampling-only"));
          const json::array identity{spec.resolved.at("name"),
                                     cell.panel,
                                     cell.row,
                                     (**baseline).name,
                                     epsilon,
                                     seed,
                                     cell.delta,
                                     cell.options,
                                     cell.validation_size,
                                     cell.base.to_json()};
          const auto* reading = &baselines::reading_of(**baseline, cell.options);
          studies.push_back({digest(identity), std::move(cell), reading});
        }
      }
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
