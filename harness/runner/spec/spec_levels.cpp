#include "harness/runner/spec/spec_levels.h"

#include <algorithm>
#include <vector>

#include "baselines/baseline.h"
#include "harness/runner/spec/mistakes/spec_examples.h"
#include "harness/runner/spec/spec.h"

namespace hyfreedp::runner {
namespace {

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_of_train(const std::string& key) {
  return is_one_of(train_option_names(), key) || is_one_of(training_option_names(), key);
}

bool is_of_a_rows_train(const std::string& key) {
  return is_one_of(row_train_keys(), key) || is_one_of(training_option_names(), key);
}

bool is_of_a_method(const std::string& key) {
  return std::ranges::any_of(baselines::registry(), [&](const auto& method) {
    return std::ranges::any_of(method.options, [&](const OptionSpec& option) { return option.name == key; });
  });
}

// True for the levels of a panel's keys: panels, the top level, `defaults` and presets.
bool is_of_panels(const std::string& level) {
  return level.empty() || level == "panels" || level == "defaults" || level.starts_with("presets.");
}

}  // namespace

std::optional<RightLevel> right_level(const std::string& key, const std::string& path) {
  const auto level = without_places(path);
  const auto dot = path.rfind('.');
  const auto outer = dot == std::string::npos ? "" : path.substr(0, dot);
  const auto under = [&](const std::string& name) {
    return RightLevel{"under '" + name + "'", path.empty() ? name : path + "." + name,
                      example_at(is_of_panels(level) ? name : path + "." + name)};
  };
  const auto beside = [&](const std::string& name) {
    return RightLevel{"beside '" + name + "', not under it", outer,
                      example_at(outer.empty() ? key : outer + "." + key)};
  };
  if (is_of_panels(level)) {
    if (is_of_train(key)) return under("train");
    if (is_one_of(evaluate_keys(), key)) return under("evaluate");
    if (is_one_of({"method", "use", "options", "each", "group"}, key)) return under("rows");
    return std::nullopt;
  }
  if (level == "rows" && is_of_a_rows_train(key)) return under("train");
  if (level == "rows" && is_of_a_method(key)) return under("options");
  if (level == "rows.train" || level == "rows.options") {
    if (is_one_of(row_keys(), key)) return beside(path.substr(dot + 1));
  }
  if ((level == "rows" || level == "rows.train") && is_of_train(key)) {
    return RightLevel{"under the 'train' beside 'rows', which all rows share", "", example_at("train")};
  }
  if (is_one_of({"train", "evaluate", "dataset", "model", "rows"}, level) && is_one_of(default_keys(), key)) {
    return beside(level);
  }
  return std::nullopt;
}

}  // namespace hyfreedp::runner
