#include "harness/runner/initial_weights.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/models/weights_source.h"

namespace hyfreedp::runner {
namespace {

namespace fs = std::filesystem;

Result<void> add_private_data(const std::string& folder, std::set<std::string>& names) {
  const auto path = fs::path(folder) / "trial.json";
  std::error_code failure;
  if (!fs::exists(path, failure) && !failure) return {};
  const auto card = read_json_file(path.string());
  if (!card) return card.error();
  if (!card->is_object()) return error(path.string() + ": must be an object.");
  const auto& object = card->get_object();
  if (object.contains("watermark")) {
    return error(fmt::format(
        "The weights in '{}' are confidential (trial.json: watermark): a run that began with them would pass "
        "on, under its own epsilon, what they tell of private examples. Begin with public weights or with a "
        "release.",
        folder));
  }
  const auto* listed = object.if_contains("private_data");
  const bool is_list =
      listed != nullptr && listed->is_array() &&
      std::ranges::all_of(listed->get_array(), [](const auto& name) { return name.is_string(); });
  if (!is_list) {
    return error(path.string() +
                 ": 'private_data' must list the private datasets that the weights have seen.");
  }
  for (const auto& name : listed->get_array()) names.emplace(name.get_string());
  return {};
}

bool is_here(const json::object& model_options) {
  const auto weights = string_or(model_options, "weights", ""),
             adapter = string_or(model_options, "adapter", "");
  return (weights.empty() || models::locate_weights(weights)) &&
         (adapter.empty() || models::locate_adapter(adapter));
}

}  // namespace

Result<std::set<std::string>> private_data_of_start(const json::object& model_options) {
  struct Start {
    const char* option;
    Result<std::string> (*locate)(const std::string&);
  };
  std::set<std::string> names;
  for (const auto& start :
       {Start{"weights", models::locate_weights}, Start{"adapter", models::locate_adapter}}) {
    const auto given = string_or(model_options, start.option, "");
    if (given.empty()) continue;
    const auto folder = start.locate(given);
    if (!folder) return folder.error();
    if (auto added = add_private_data(*folder, names); !added) return added.error();
  }
  return names;
}

Result<void> check_start(const trial::TrialConfig& config) {
  if (!is_here(config.model.options)) return {};
  const auto seen = private_data_of_start(config.model.options);
  if (!seen) return seen.error();
  const auto& dataset = config.dataset.name;
  if (!seen->contains(dataset)) return {};
  return error(fmt::format(
      "The weights that the model begins with have seen '{}' already (trial.json). What they spent of it is "
      "not counted by a run on the same examples, whose epsilon would be too small. Begin with other "
      "weights.",
      dataset));
}

}  // namespace hyfreedp::runner
