#include "harness/runner/execute/cell_plan.h"

#include <algorithm>
#include <fmt/format.h>

#include "harness/runner/odometer/release.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {
namespace {

// The members that planning reads of a seed in a cell's file (results/provenance/cell_file.h).
struct CellSeed {
  std::int64_t seed = 0;
  std::string study;
  std::optional<trial::TrialConfig> config;  // of a seed with a value
  static constexpr std::array kLeftOut = {"study"};
};
BOOST_DESCRIBE_STRUCT(CellSeed, (), (seed, study, config))

struct CellSpec {
  std::string name;
};
BOOST_DESCRIBE_STRUCT(CellSpec, (), (name))

// The members that every row has, whichever version of the program wrote the file.
struct CellRow {
  std::string method;
  json::object options;
};
BOOST_DESCRIBE_STRUCT(CellRow, (), (method, options))

struct CellFile {
  CellSpec spec;
  json::object panel;
  json::object row;
  double column = 0;
  std::vector<CellSeed> seeds;
};
BOOST_DESCRIBE_STRUCT(CellFile, (), (spec, panel, row, column, seeds))

// Leaves the panel and its row that one column.
Result<void> keep_column(spec::Panel& panel, double column) {
  auto& epsilons = panel.rows.front().epsilons;
  auto& noises = panel.noise_multipliers;
  if (!noises.empty()) {
    const auto place = std::ranges::find(epsilons, column) - epsilons.begin();
    if (noises.size() != epsilons.size() || place == std::ssize(epsilons))
      return error("no noise multiplier of the panel has this column");
    noises = {noises[static_cast<std::size_t>(place)]};
  }
  epsilons = {column};
  return {};
}

// A spec of this one row and column, of the release and with the seeded noise that the run's config
// names.
Result<Spec> spec_of(const CellFile& file, const trial::TrialConfig& config) {
  const auto given = from_json<CellRow>(file.row, "file.row");
  if (!given) return given.error();
  const auto method = baselines::find_baseline(given->method);
  if (!method) return method.error();
  json::object known;  // of the method; others give another study
  for (const auto& option : (**method).options) {
    if (const auto* value = given->options.if_contains(option.name)) known[option.name] = *value;
  }
  const auto options = resolve_options((**method).options, known, "file.row.options");
  if (!options) return options.error();
  auto panel = spec::read_panel(file.panel, file.row, "file");
  if (!panel) return panel.error();
  if (auto only = keep_column(*panel, file.column); !only) return only.error();
  Spec spec{.path = "the file", .text = "", .content = {}};
  spec.content.name = file.spec.name;
  spec.content.noise_seed = config.noise_seed;
  spec.content.release = config.repetition / baselines::kRepetitionsPerRelease;
  spec.content.panels = {std::move(*panel)};
  for (auto& row : spec.content.panels.front().rows) row.release = 0;  // it is in the number above
  return spec;
}

Result<std::vector<results::CellCheck>> checks_of_seeds(const json::object& json) {
  const auto file = from_json<CellFile>(json, "file");
  if (!file) return file.error();
  std::vector<results::CellCheck> checks;
  for (const auto& seed : file->seeds) {
    if (!seed.config) continue;
    const auto spec = spec_of(*file, *seed.config);
    if (!spec) return spec.error();
    const auto studies = plan_release(*spec);
    if (!studies) return studies.error();
    std::string planned = "none: the row does not ask for this seed", label;
    for (const auto& study : *studies) {
      if (study.cell.seed != seed.seed) continue;
      planned = study.id;
      label = baselines::to_string(study.baseline->label);
    }
    checks.push_back({fmt::format("seed {}: study, the hash of row, column and seed", seed.seed), seed.study,
                      planned, seed.study == planned});
    if (label.empty() || checks.size() > 1) continue;
    const auto& claimed = spec->content.panels.front().rows.front().label;
    checks.push_back({"label of the row, its method's", claimed, label, claimed == label});
  }
  return checks;
}

}  // namespace

std::vector<results::CellCheck> plan_checks(const json::object& file) {
  auto checks = checks_of_seeds(file);
  if (checks) return std::move(*checks);
  return {
      {"row, planned again", fmt::format("cannot be planned: {}", checks.error().message), "a study", false}};
}

}  // namespace hyfreedp::runner
