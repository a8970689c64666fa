#include "harness/cli/common/run_needs.h"

#include <algorithm>
#include <set>

#include "datasets/facts.h"
#include "datasets/own/own_files.h"
#include "harness/base/text.h"
#include "harness/models/facts/catalogue.h"
#include "harness/models/facts/weights_source.h"

namespace hyfreedp::cli {
namespace {

// All of the dataset that is not here: its files, and the weights that make its features.
bool is_fetchable(const datasets::Facts& facts, const json::object& options) {
  const auto own = string_or(options, "path", ""), weights = string_or(options, "weights", "");
  const bool files = own.empty() ? datasets::locate(facts) || !facts.supply.empty()
                                 : datasets::locate_own_files(own).has_value();
  return files &&
         (weights.empty() || models::locate_weights(weights) || models::find_pretrained(weights) != nullptr);
}

}  // namespace

std::vector<Missing> missing_data(const runner::Spec& spec) {
  std::vector<Missing> missing;
  const auto add = [&missing](const std::string& what, const Result<void>& found, bool fetchable) {
    if (found) return;
    const auto same = [&](const Missing& one) {
      return one.what == what && one.why == found.error().message;
    };
    if (std::ranges::none_of(missing, same)) missing.push_back({what, found.error().message, fetchable});
  };
  for (const auto& panel : spec.content.panels) {
    // The model's, and those of a frozen network that makes features.
    std::vector<json::object> with_weights = {panel.model.options};
    for (const auto& [name, options] : spec::datasets_of(panel)) {
      const auto facts = datasets::find_dataset(name);
      add(datasets::data_name(name, options),
          facts ? datasets::check_present(**facts, options) : Result<void>(facts.error()),
          facts && is_fetchable(**facts, options));
      with_weights.push_back(options);
    }
    for (const auto& of : with_weights) {
      const auto weights = string_or(of, "weights", "");
      if (weights.empty()) continue;
      const auto folder = models::locate_weights(weights);
      add(weights, folder ? Result<void>() : Result<void>(folder.error()),
          models::find_pretrained(weights) != nullptr);
    }
  }
  return missing;
}

Result<void> check_data(const runner::Spec& spec) {
  std::set<std::string> checked;
  std::vector<std::string> wrong;
  for (const auto& panel : spec.content.panels) {
    for (const auto& [name, options] : spec::datasets_of(panel)) {
      if (!checked.insert(name + canonical_json(options)).second) continue;
      const auto facts = datasets::find_dataset(name);
      if (!facts) return facts.error();
      if (auto sound = datasets::check_data(**facts, options); !sound) wrong.push_back(sound.error().message);
    }
  }
  return wrong.empty() ? Result<void>() : Result<void>(error(join(wrong, "\n")));
}

}  // namespace hyfreedp::cli
