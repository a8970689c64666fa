#include "harness/mechanism/run_check.h"
#include "harness/runner/spec/spec.h"
#include "harness/trial/training_options.h"

namespace hyfreedp::runner {

std::vector<std::string> training_option_names() {
  std::vector<std::string> names;
  for (const auto& option : trial::training_option_table()) names.push_back(option.name);
  return names;
}

std::optional<trial::TrainingOptions> read_training(const Layers& train, Problems& problems) {
  if (train.empty()) return trial::TrainingOptions{};
  const auto given = known_options(trial::training_option_table(), train, problems);
  if (!given) return std::nullopt;
  return problems.take(trial::TrainingOptions::from_json(*given, train.maps().front().where()));
}

void check_average(const trial::TrainingOptions& training, const trial::Named& optimizer, std::int64_t steps,
                   const Layers& train, Problems& problems) {
  const auto fits = mechanism::check_average(training, optimizer, steps);
  if (fits) return;
  const bool is_late = steps > 0 && training.average_from >= steps;
  problems.add(train.find(is_late ? "average_from" : "average")->wrong(fits.error()));
}

}  // namespace hyfreedp::runner
