#include <fmt/format.h>

#include "harness/runner/spec/spec.h"
#include "harness/trial/training_options.h"
#include "optimizers/options.h"

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

void check_average(const trial::TrainingOptions& training, const json::object& optimizer_options,
                   std::int64_t steps, const Layers& train, Problems& problems) {
  if (training.average == trial::Average::none) return;
  if (steps > 0 && training.average_from >= steps) {
    problems.add(
        train.find("average_from")
            ->wrong(fmt::format("must be below the {} steps of a run, or nothing is averaged", steps), ""));
  }
  const auto end = hyfreedp::read_options<optimizers::EndOptions>(optimizer_options);
  for (const auto& [own, is_on] :
       {std::pair{"average", end.average}, std::pair{"free_step", end.free_step}}) {
    if (!is_on) continue;
    problems.add(train.find("average")->wrong(
        fmt::format("and the optimizer's own '{}' exclude each other; keep one", own), ""));
  }
}

}  // namespace hyfreedp::runner
