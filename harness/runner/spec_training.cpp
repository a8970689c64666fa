#include "harness/runner/spec.h"
#include "harness/trial/training_options.h"

namespace hyfreedp::runner {

std::vector<std::string> training_option_names() {
  std::vector<std::string> names;
  for (const auto& option : trial::training_option_table()) names.push_back(option.name);
  return names;
}

Result<json::object> read_training(const Layers& train) {
  if (train.empty()) return json::object{};
  const auto given = options_from(trial::training_option_table(), train, train_option_names());
  if (!given) return given.error();
  const auto options = trial::TrainingOptions::from_json(*given, train.maps().front().where());
  if (!options) return options.error();
  return options->to_json();
}

Result<void> check_average(const json::object& training, const json::object& optimizer_options,
                           const Layers& train) {
  if (!training.contains("average") || !bool_or(optimizer_options, "average", false)) return {};
  return train.find("average")->wrong("and the optimizer's own 'average' exclude each other; keep one");
}

void add_notes(const json::object& training, json::array& footnotes) {
  const auto options = trial::TrainingOptions::from_json(training, "training");
  HYFREEDP_CHECK(options, "training options that were read are valid");
  for (const auto& note : options->notes()) footnotes.emplace_back(note);
}

}  // namespace hyfreedp::runner
