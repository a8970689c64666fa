#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/accounting/accountant.h"
#include "harness/accounting/calibration_search.h"
#include "harness/accounting/contour.h"
#include "harness/accounting/mechanism.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kLowestNoise = 0.01;
constexpr double kHighestNoise = 1e8;
constexpr double kPldTolerance = 2.5e-5;
// of the PLD upper bound above the true epsilon, relative
constexpr double kUsualRise = 5e-5;
// of log noise, after the central limit theorem's
constexpr double kBeginnings[] = {-0.3, 0.3, 0.8};
constexpr double kHintBudget = 5e6;           // about 5 ms a noise at most
constexpr std::int64_t kUsesWorthAHint = 64;  // fewer are priced by PLD in half a millisecond
constexpr double kRdpTolerance = 1e-9;

// One evaluated noise, in logarithms: excess > 0 misses the target.
struct Point {
  double log_noise = 0;
  double excess = 0;
  EpsilonAnswer answer;
};

class Search {
 public:
  Search(const EpsilonOfNoise& epsilon_of, double target, double tolerance,
         const std::optional<NoiseHint>& hint)
      : epsilon_of_(epsilon_of), target_(target), tolerance_(tolerance), hint_(hint) {}

  Result<Calibration> run() {
    if (auto ok = bracket(); !ok) return ok.error();
    // the lowest noise already meets the target
    if (has_meeting_ && !has_missing_) return finish();
    if (auto ok = narrow(); !ok) return ok.error();
    return finish();
  }

 private:
  Result<Point> evaluate(double log_noise) {
    const auto answer = epsilon_of_(std::exp(log_noise));
    if (!answer) return answer.error();
    const double ratio = answer->epsilon / target_;
    // Zero and infinite epsilons only say on which side they are.
    const double excess = std::clamp(ratio > 0 ? std::log(ratio) : -50.0, -50.0, 50.0);
    return Point{log_noise, excess, *answer};
  }

  Result<void> take(double log_noise) {
    auto point = evaluate(log_noise);
    if (!point) return point.error();
    if (point->answer.epsilon <= target_) {
      meeting_ = *point;
      has_meeting_ = true;
    } else {
      missing_ = *point;
      has_missing_ = true;
    }
    return {};
  }

  // Epsilon falls roughly like a power of the noise between -1 and -3; steps grow until both sides
  // are seen.
  Result<void> bracket() {
    const double lowest = std::log(kLowestNoise);
    const double highest = std::log(kHighestNoise);
    double at = hint_ ? std::clamp(hint_->log_noise + kUsualRise / -hint_->slope, lowest, highest) : 0;
    double reach = hint_ ? 0.35 * tolerance_ : 0.15;
    const double per_excess = hint_ ? 1 / -hint_->slope : 0.6;
    for (int i = 0; i < 80; ++i) {
      if (auto ok = take(at); !ok) return ok;
      if (has_meeting_ && has_missing_) return {};
      const Point& here = has_meeting_ ? meeting_ : missing_;
      if (has_meeting_ && at <= lowest) return {};
      if (has_missing_ && at >= highest) {
        return error(fmt::format(
            "No noise reaches epsilon {:.6g}: even with a noise multiplier of {:.0e} it is {:.6g} at "
            "delta {:.3g}. Ask for at least that, or for a larger delta or fewer steps.",
            target_, kHighestNoise, here.answer.epsilon, here.answer.delta));
      }
      const double guess = std::abs(here.excess) < 49 ? std::abs(here.excess) * per_excess : 1.0;
      at = std::clamp(at + (has_meeting_ ? -1 : 1) * (guess + reach), lowest, highest);
      reach *= hint_ ? 4 : 1.7;
    }
    return error("The noise search found no bracket; epsilon does not fall as the noise grows.");
  }

  Result<void> narrow() {
    const double margin = 0.35 * tolerance_;
    int stale = 0;
    for (int i = 0; i < 200 && meeting_.log_noise - missing_.log_noise > tolerance_; ++i) {
      const double width = meeting_.log_noise - missing_.log_noise;
      const double root = root_estimate();
      double at = missing_.log_noise + width / 2;
      if (stale < 2) {
        // A point just past the root on the side that is still far away.
        at = meeting_.log_noise - root > 2 * margin ? root + margin : root - margin;
        at = std::clamp(at, missing_.log_noise + 0.01 * width, meeting_.log_noise - 0.01 * width);
      }
      if (auto ok = take(at); !ok) return ok;
      stale = meeting_.log_noise - missing_.log_noise > 0.5 * width ? stale + 1 : 0;
    }
    return {};
  }

  // The logarithm of the noise at which the line through the two ends crosses the target.
  double root_estimate() const {
    const double width = meeting_.log_noise - missing_.log_noise;
    if (std::abs(meeting_.excess) > 49 || std::abs(missing_.excess) > 49)
      return missing_.log_noise + width / 2;
    const double slope = meeting_.excess - missing_.excess;
    return slope < 0 ? missing_.log_noise - missing_.excess * width / slope : missing_.log_noise + width / 2;
  }

  Calibration finish() const { return {std::exp(meeting_.log_noise), meeting_.answer}; }

  const EpsilonOfNoise& epsilon_of_;
  double target_;
  double tolerance_;
  std::optional<NoiseHint> hint_;
  Point meeting_;
  Point missing_;
  bool has_meeting_ = false;
  bool has_missing_ = false;
};

std::int64_t uses(const Events& events) {
  const auto contents = split_contents(events);
  std::int64_t total = 0;
  if (!contents) return total;
  for (const auto& content : *contents) {
    for (const auto& mechanism : content.mechanisms) total += mechanism.count;
  }
  return total;
}

// Log of the noise at which the central limit theorem has the target; it errs by a tenth or so,
// which is near enough to begin from.
double central_limit_beginning(const EventsOfNoise& events_at, double epsilon, double delta) {
  double low = std::log(kLowestNoise);
  double high = std::log(kHighestNoise);
  while (high - low > 0.02) {
    const double middle = (low + high) / 2;
    const auto answer = epsilon_gdp(events_at(std::exp(middle)), delta);
    if (!answer) return 0;
    (answer->epsilon > epsilon ? low : high) = middle;
  }
  return high;
}

}  // namespace

// The secant method in logarithms, inside the bracket that the points seen make.
std::optional<NoiseHint> noise_hint(const EventsOfNoise& events_at, double epsilon, double delta) {
  if (!(epsilon > 0) || !std::isfinite(epsilon)) return std::nullopt;
  if (uses(events_at(1)) < kUsesWorthAHint) return std::nullopt;
  double low = std::log(kLowestNoise);
  double high = std::log(kHighestNoise);
  const double beginning = central_limit_beginning(events_at, epsilon, delta);
  NoiseHint hint{beginning, -1.7};
  double last = 0;
  double last_value = 0;
  bool seen = false;
  int failures = 0;
  for (int i = 0; i < 40; ++i) {
    const auto found = contour_epsilon(events_at(std::exp(hint.log_noise)), delta, kHintBudget);
    if (!found) {
      // Far from the target the inversion may not apply; nearer to where it did, or from another
      // beginning, it may.
      if (++failures > 8 || (!seen && failures > static_cast<int>(std::size(kBeginnings))))
        return std::nullopt;
      hint.log_noise = seen ? (hint.log_noise + last) / 2 : beginning + kBeginnings[failures - 1];
      continue;
    }
    const double value = *found > 0 ? std::clamp(std::log(*found / epsilon), -50.0, 50.0) : -50;
    const bool usable = seen && std::abs(value) < 49 && std::abs(last_value) < 49 && last != hint.log_noise;
    if (usable) hint.slope = std::clamp((value - last_value) / (hint.log_noise - last), -1e6, -0.2);
    if (std::abs(value) < 3e-6) return hint;
    (value > 0 ? low : high) = hint.log_noise;
    last = hint.log_noise;
    last_value = value;
    seen = true;
    const double next = last - std::clamp(value / hint.slope, -1.5, 1.5);
    hint.log_noise = next > low && next < high ? next : (low + high) / 2;
    if (high - low < 1e-9) return std::nullopt;
  }
  return std::nullopt;
}

Result<Calibration> search_noise(const EpsilonOfNoise& epsilon_of, double epsilon, double tolerance,
                                 const std::optional<NoiseHint>& hint) {
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    return error(fmt::format("The target epsilon is {}; it must be positive and finite.", epsilon));
  }
  return Search(epsilon_of, epsilon, tolerance, hint).run();
}

Result<double> calibration_tolerance(const std::string& accountant) {
  if (accountant == "pld") return kPldTolerance;
  if (accountant == "rdp") return kRdpTolerance;
  return error("The accountant '" + accountant + "' cannot calibrate; use 'pld' or 'rdp'.");
}

Result<EpsilonAnswer> epsilon_by(const std::string& accountant, const Events& events, double delta,
                                 const std::vector<double>& orders) {
  return accountant == "rdp" ? epsilon_rdp(events, delta, orders) : epsilon_pld(events, delta);
}

Result<Calibration> calibrate(const std::function<Events(double noise)>& events_at, double epsilon,
                              double delta, const std::string& accountant) {
  const auto tolerance = calibration_tolerance(accountant);
  if (!tolerance) return tolerance.error();
  const EpsilonOfNoise epsilon_of = [&](double noise) {
    return epsilon_by(accountant, events_at(noise), delta, default_orders());
  };
  const auto hint = accountant == "pld" ? noise_hint(events_at, epsilon, delta) : std::nullopt;
  return search_noise(epsilon_of, epsilon, *tolerance, hint);
}

Result<Calibration> calibrate_gaussian(double sample_rate, std::int64_t steps, double epsilon, double delta,
                                       const std::string& accountant) {
  if (steps < 1) return error(fmt::format("The number of steps is {}; it must be at least 1.", steps));
  return calibrate(
      [&](double noise) {
        return Events{Neighbouring::add_remove, {poisson_gaussian(sample_rate, noise, steps)}};
      },
      epsilon, delta, accountant);
}

Result<double> epsilon_of_mu(double mu, double delta, const std::string& accountant) {
  if (accountant != "rdp") return gdp_epsilon(mu, delta);
  const auto answer = epsilon_rdp({.events = {poisson_gaussian(1, 1 / mu, 1)}}, delta);
  if (!answer) return answer.error();
  return answer->epsilon;
}

Result<double> mu_of_epsilon(double epsilon, double delta, const std::string& accountant) {
  if (accountant != "rdp") return gdp_mu(epsilon, delta);
  const auto noise = calibrate_gaussian(1, 1, epsilon, delta, accountant);
  if (!noise) return noise.error();
  return 1 / noise->noise_multiplier;
}

}  // namespace hyfreedp::accounting
