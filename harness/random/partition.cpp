#include "harness/random/partition.h"

#include "harness/random/stream.h"

namespace hyfreedp::random {

Result<std::optional<Part>> part_of(const json::object& options) {
  if (!options.contains(kPart)) return std::optional<Part>{};
  auto part = read_options<Part>(options);
  if (part.name != kTuningPart && part.name != kRestPart) {
    return error("the part '" + part.name + "' of the data is neither 'tuning' nor 'rest'.");
  }
  if (!(part.rate > 0 && part.rate < 1)) return error("'part_rate' must lie in (0, 1).");
  return std::optional<Part>(std::move(part));
}

json::object with_part(json::object options, const Part& part) {
  for (const auto& option : as_json(part)) options[option.key()] = option.value();
  return options;
}

json::object without_part(json::object options) {
  const auto names = as_json(Part());
  for (const auto& option : names) options.erase(option.key());
  return options;
}

std::vector<std::int64_t> part_indices(const Part& part, std::int64_t population) {
  auto tuning = poisson_sample(key_from_seed("part of the data/" + part.key), {.purpose = Purpose::split},
                               population, part.rate);
  if (part.name == kTuningPart) return tuning;
  std::vector<std::int64_t> rest;
  rest.reserve(static_cast<std::size_t>(population) - tuning.size());
  auto next = tuning.begin();
  for (std::int64_t i = 0; i < population; ++i) {
    if (next != tuning.end() && *next == i) {
      ++next;
    } else {
      rest.push_back(i);
    }
  }
  return rest;
}

}  // namespace hyfreedp::random
