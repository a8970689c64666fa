#include "harness/runner/execute/cell_plan.h"

#include <exception>
#include <fmt/format.h>

#include "harness/runner/odometer/release.h"
#include "harness/runner/spec/plan.h"

namespace hyfreedp::runner {
namespace {

constexpr const char* kRow = "row, planned again";

// A spec of this one row and column, of the release and with the seeded noise that the run's config
// names.
Spec spec_of(const json::object& file, const json::object& config) {
  auto row = file.at("row").as_object();
  row["epsilons"] = json::array{file.at("column")};
  auto panel = file.at("panel").as_object();
  panel["rows"] = json::array{row};
  const auto* noise_seed = config.if_contains("noise_seed");
  Spec spec{.path = "the file",
            .text = "",
            .resolved = {{"name", file.at("spec").at("name")},
                         {"noise_seed", noise_seed != nullptr ? *noise_seed : json::value(nullptr)},
                         {"panels", json::array{panel}}}};
  set_release(spec, int_or(config, "repetition", 0) / baselines::kRepetitionsPerRelease);
  return spec;
}

Result<std::vector<results::CellCheck>> checks_of_seeds(const json::object& file) {
  std::vector<results::CellCheck> checks;
  for (const auto& value : file.at("seeds").as_array()) {
    const auto& seed = value.as_object();
    if (!seed.contains("config")) continue;
    const auto studies = plan_release(spec_of(file, seed.at("config").as_object()));
    if (!studies) return studies.error();
    std::string planned = "none: the row does not ask for this seed", label;
    for (const auto& study : *studies) {
      if (study.cell.seed != seed.at("seed").as_int64()) continue;
      planned = study.id;
      label = baselines::to_string(study.baseline->label);
    }
    const auto claimed = std::string(seed.at("study").as_string());
    checks.push_back(
        {fmt::format("seed {}: study, the hash of row, column and seed", seed.at("seed").as_int64()), claimed,
         planned, claimed == planned});
    if (label.empty() || checks.size() > 1) continue;
    const auto of_row = std::string(file.at("row").at("label").as_string());
    checks.push_back({"label of the row, its method's", of_row, label, of_row == label});
  }
  return checks;
}

}  // namespace

std::vector<results::CellCheck> plan_checks(const json::object& file) {
  // A panel or row that was not resolved by this program lacks what planning takes for granted.
  try {
    auto checks = checks_of_seeds(file);
    if (checks) return std::move(*checks);
    return {{kRow, fmt::format("cannot be planned: {}", checks.error().message), "a study", false}};
  } catch (const std::exception& unreadable) {
    return {{kRow, fmt::format("cannot be planned: {}", unreadable.what()), "a study", false}};
  }
}

}  // namespace hyfreedp::runner
