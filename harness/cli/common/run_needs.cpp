#include "harness/cli/common/run_needs.h"

#include <set>

#include "datasets/facts.h"

namespace hyfreedp::cli {

std::vector<MissingData> missing_data(const runner::Spec& spec) {
  std::set<std::string> names;
  for (const auto& panel : spec.content.panels) names.insert(panel.dataset.name);
  std::vector<MissingData> missing;
  for (const auto& name : names) {
    const auto facts = datasets::find_dataset(name);
    const auto folder = facts ? datasets::locate(**facts) : Result<std::string>(facts.error());
    if (!folder) missing.push_back({name, folder.error().message});
  }
  return missing;
}

}  // namespace hyfreedp::cli
