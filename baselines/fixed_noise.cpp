#include "baselines/fixed_noise.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

#include "baselines/calibrations.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"
#include "harness/trial/event_tally.h"

namespace hyfreedp::baselines {

template <>
struct KeyOf<accounting::Events> {
  static json::value of(const accounting::Events& events) { return accounting::events_to_json(events); }
};

namespace {

constexpr int kMostRounds = 100;  // of runs that follow from earlier ones
constexpr int kDigits = 4;

Result<double> priced(const accounting::Events& events, const double& delta) {
  const auto report = accounting::report_epsilon(events, delta);
  if (!report) return report.error();
  return report->epsilon;
}

double rounded_up(double epsilon) {
  const int exponent = kDigits - 1 - static_cast<int>(std::floor(std::log10(epsilon)));
  const double unit = std::pow(10.0, std::abs(exponent));
  return exponent > 0 ? std::ceil(epsilon * unit) / unit : std::ceil(epsilon / unit) * unit;
}

Result<void> check_noise(const Cell& cell, double noise) {
  if (!cell.noise_multiplier || noise == *cell.noise_multiplier) return {};
  return error(fmt::format(
      "its method trains with noise multiplier {} where the spec fixes {}; give it an 'epsilon' instead",
      short_number(noise), short_number(*cell.noise_multiplier)));
}

// The events of a selection before any of its runs, whose number is drawn.
Result<accounting::Events> selection_events(const Baseline& baseline, const Cell& cell) {
  const auto selection = baseline.selection(cell);
  if (!selection) return selection.error();
  for (const auto& event : selection->base) {
    const auto* batch = std::get_if<accounting::Batch>(&event.what);
    if (batch == nullptr) continue;
    for (const auto& release : batch->releases) {
      if (!mechanism::is_followed(release.purpose)) continue;
      if (auto checked = check_noise(cell, release.noise_multiplier); !checked) return checked.error();
    }
  }
  return accounting::Events{.events = trial::selection_by_split(*selection)};
}

// The events of the runs that the method asks for if every run ends with the same results.
Result<accounting::Events> run_events(const Baseline& baseline, const Cell& cell) {
  std::vector<FinishedTrial> finished;
  std::map<std::string, std::vector<accounting::Event>> executed;
  for (int round = 0;; ++round) {
    const auto wanted = baseline.next(cell, finished);
    if (!wanted) return wanted.error();
    if (wanted->empty()) break;
    if (round == kMostRounds) return error("its method never stops asking for runs");
    for (const auto& config : *wanted) {
      if (auto checked = check_fixed_noise(cell, config); !checked) return checked.error();
      executed[config.id()] = mechanism::events(config);
      finished.push_back({.id = config.id(),
                          .config = config,
                          .released_score = 0,
                          .oracle_validation = 0,
                          .oracle_train = 0});
    }
  }
  const auto conclusion = baseline.conclude(cell, finished);
  if (!conclusion) return conclusion.error();
  if (conclusion->failure) return error(conclusion->failure->message);
  if (conclusion->composition.rule == Composition::Rule::trial) {
    const trial::EventTally reported(executed.at(conclusion->reported_trial));
    for (const auto& [id, events] : executed) {
      const trial::EventTally other(events);
      if (other.contains(reported) && reported.contains(other)) continue;
      return error("it reports one of runs that cost different epsilons; give it an 'epsilon' instead");
    }
  }
  return trial::compose(
      conclusion->composition,
      [&](const std::string& id) -> Result<std::vector<accounting::Event>> { return executed.at(id); });
}

}  // namespace

Result<void> check_fixed_noise(const Cell& cell, const trial::TrialConfig& config) {
  return check_noise(cell, config.privacy.is_private ? config.privacy.gradient_noise : 0);
}

Result<double> planned_epsilon(const Baseline& baseline, const Cell& cell) {
  if (!baseline.needs_epsilon.empty()) {
    return error(
        fmt::format("{} cannot have a fixed noise multiplier, because it {}; give it an 'epsilon' instead",
                    baseline.name, baseline.needs_epsilon));
  }
  if (!cell.noise_multiplier || !(*cell.noise_multiplier > 0 && std::isfinite(*cell.noise_multiplier))) {
    return error("a noise multiplier must be positive and finite");
  }
  auto any = cell;
  any.epsilon = std::numeric_limits<double>::infinity();  // private, and no target
  const auto events = baseline.selection ? selection_events(baseline, any) : run_events(baseline, any);
  if (!events) return events.error();
  auto epsilon = calibrated(cell, priced, *events, cell.delta);
  if (!epsilon) return epsilon;
  if (!(*epsilon > 0 && std::isfinite(*epsilon))) {
    return error(fmt::format("it costs epsilon {}, which no column can have; choose another noise multiplier",
                             *epsilon));
  }
  return rounded_up(*epsilon);
}

}  // namespace hyfreedp::baselines
