#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/accounting/accountant.h"
#include "harness/accounting/calibration_search.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kLowestNoise = 0.01;
constexpr double kHighestNoise = 1e8;
constexpr double kPldTolerance = 4e-5;
constexpr double kRdpTolerance = 1e-9;

// One evaluated noise, in logarithms: excess > 0 misses the target.
struct Point {
  double log_noise = 0;
  double excess = 0;
  EpsilonAnswer answer;
};

class Search {
 public:
  Search(const EpsilonOfNoise& epsilon_of, double target, double tolerance)
      : epsilon_of_(epsilon_of), target_(target), tolerance_(tolerance) {}

  Result<Calibration> run() {
    if (auto ok = bracket(); !ok) return ok.error();
    if (has_meeting_ && !has_missing_) return finish();  // the lowest noise already meets the target
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

  // Epsilon falls roughly like a power of the noise between -1 and -3; steps grow until both sides are seen.
  Result<void> bracket() {
    const double lowest = std::log(kLowestNoise);
    const double highest = std::log(kHighestNoise);
    double at = 0;
    double reach = 0.15;
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
      const double guess = std::abs(here.excess) < 49 ? std::abs(here.excess) * 0.6 : 1.0;
      at = std::clamp(at + (has_meeting_ ? -1 : 1) * (guess + reach), lowest, highest);
      reach *= 1.7;
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

  // Where the line through the two ends crosses the target.
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
  Point meeting_;
  Point missing_;
  bool has_meeting_ = false;
  bool has_missing_ = false;
};

}  // namespace

Result<Calibration> search_noise(const EpsilonOfNoise& epsilon_of, double epsilon, double tolerance) {
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    return error(fmt::format("The target epsilon is {}; it must be positive and finite.", epsilon));
  }
  auto found = Search(epsilon_of, epsilon, tolerance).run();
  if (!found) return found;
  // exp(log noise) may differ from the noise that was priced in the last digit: price what is returned.
  const auto answer = epsilon_of(found->noise_multiplier);
  if (!answer) return answer.error();
  found->answer = *answer;
  return found;
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
  return search_noise(epsilon_of, epsilon, *tolerance);
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

}  // namespace hyfreedp::accounting
