#include "harness/runner/spec/spec.h"
#include "harness/trial/training_options.h"

namespace hyfreedp::runner {

std::vector<std::string> training_option_names() {
  std::vector<std::string> names;
  for (const auto& option : trial::training_option_table()) names.push_back(option.name);
  return names;
}

std::optional<json::object> read_training(const Layers& train, Problems& problems) {
  if (train.empty()) return json::object{};
  const auto given = known_options(trial::training_option_table(), train, problems);
  if (!given) return std::nullopt;
  const auto options = problems.take(trial::TrainingOptions::from_json(*given, train.maps().front().where()));
  if (!options) return std::nullopt;
  return options->to_json();
}

void check_average(const json::object& training, const json::object& optimizer_options, const Layers& train,
                   Problems& problems) {
  if (!training.contains("average") || !bool_or(optimizer_options, "average", false)) return;
  problems.add(
      train.find("average")->wrong("and the optimizer's own 'average' exclude each other; keep one", ""));
}

void add_notes(const json::object& training, json::array& footnotes) {
  const auto options = trial::TrainingOptions::from_json(training, "training");
  HYFREEDP_CHECK(options, "training options that were read are valid");
  for (const auto& note : options->notes()) footnotes.emplace_back(note);
}

}  // namespace hyfreedp::runner
