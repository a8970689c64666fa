#include "harness/accounting/gdp.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>

#include "harness/accounting/normal.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Smallest x in [low, high] with decreasing(x) <= target, from above, to the last few digits.
template <class F>
double solve_from_above(double low, double high, const F& meets) {
  for (int i = 0; i < 200 && high - low > 4e-16 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (meets(middle) ? high : low) = middle;
  }
  return high;
}

// mu of the central limit, q sqrt(T (e^{1/sigma^2} - 1)) (Bu, Dong, Long & Su 2020); squares add.
// Replace-one: the chi-square distance of N_1 to N_-1 in place of that of N_1 to N_0.
Result<double> clt_mu(const SplitContent& content, Neighbouring neighbouring) {
  double square = 0;
  for (const auto& mechanism : content.mechanisms) {
    if (mechanism.noise != Noise::gaussian)
      return error("The GDP accountant prices Gaussian noise only, not Laplace.");
    const double q = mechanism.sample_rate;
    const double inverse = 1 / (mechanism.noise_multiplier * mechanism.noise_multiplier);
    const bool replace = neighbouring == Neighbouring::replace_one;
    double one = (replace ? 4 : 1) * inverse;
    if (q < 1) one = q * q * (replace ? 4 * std::sinh(inverse) : std::expm1(inverse));
    square += static_cast<double>(mechanism.count) * one;
  }
  return std::sqrt(square);
}

}  // namespace

std::optional<double> exact_mu(const SplitContent& content, Neighbouring neighbouring) {
  if (!content.selections.empty()) return {};
  double square = 0;
  for (const auto& mechanism : content.mechanisms) {
    if (mechanism.noise != Noise::gaussian || mechanism.sample_rate != 1) return {};
    const double inverse = 1 / mechanism.noise_multiplier;
    square += static_cast<double>(mechanism.count) * inverse * inverse;
  }
  return (neighbouring == Neighbouring::replace_one ? 2 : 1) * std::sqrt(square);
}

double gdp_delta(double mu, double epsilon) {
  if (mu == 0) return 0;
  if (mu == kInfinity) return 1;
  const double a = (epsilon / mu - mu / 2) / std::numbers::sqrt2;
  const double b = (epsilon / mu + mu / 2) / std::numbers::sqrt2;
  // e^eps Phi(-b) has the same exponential factor as Phi(-a): eps - b^2 = -a^2.
  if (a > -5) return std::max(0.0, 0.5 * std::exp(-a * a) * (erfcx(a) - erfcx(b)));
  return std::max(0.0, 0.5 * std::erfc(a) - 0.5 * std::exp(-a * a) * erfcx(b));
}

Result<double> gdp_epsilon(double mu, double delta) {
  if (!(mu >= 0)) return error(fmt::format("mu is {}; it must be at least 0.", mu));
  if (!(delta > 0 && delta < 1)) return error(fmt::format("Delta is {}; it must lie in (0, 1).", delta));
  if (gdp_delta(mu, 0) <= delta) return 0.0;
  double high = 1;
  while (gdp_delta(mu, high) > delta) {
    high *= 2;
    if (high > 1e300) return kInfinity;
  }
  return solve_from_above(0, high, [&](double epsilon) { return gdp_delta(mu, epsilon) <= delta; });
}

Result<double> gdp_mu(double epsilon, double delta) {
  if (!(epsilon >= 0)) return error(fmt::format("Epsilon is {}; it must be at least 0.", epsilon));
  if (!(delta > 0 && delta < 1)) return error(fmt::format("Delta is {}; it must lie in (0, 1).", delta));
  double high = 1;
  while (gdp_delta(high, epsilon) <= delta && high < 1e150) high *= 2;
  double low = 0;
  for (int i = 0; i < 300 && high - low > 4e-16 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (gdp_delta(middle, epsilon) <= delta ? low : high) = middle;
  }
  return low;
}

Result<EpsilonAnswer> epsilon_gdp(const Events& events, double delta) {
  if (!(delta > 0 && delta < 1)) return error(fmt::format("Delta is {}; it must lie in (0, 1).", delta));
  const auto contents = split_contents(events);
  if (!contents) return contents.error();
  EpsilonAnswer answer;
  answer.delta = delta;
  answer.neighbouring = events.neighbouring;
  answer.accountant = "gdp";
  bool exact = true;
  std::size_t costliest = 0;
  for (const auto& content : *contents) {
    if (!content.selections.empty()) {
      return error("The GDP accountant cannot price private selection; use the RDP accountant.");
    }
    const auto closed = exact_mu(content, events.neighbouring);
    exact = exact && closed.has_value();
    const auto mu = closed ? Result<double>(*closed) : clt_mu(content, events.neighbouring);
    if (!mu) return mu.error();
    const auto epsilon = gdp_epsilon(*mu, delta);
    if (!epsilon) return epsilon.error();
    if (*epsilon > answer.epsilon) costliest = static_cast<std::size_t>(&content - contents->data());
    answer.epsilon = std::max(answer.epsilon, *epsilon);
  }
  answer.splits = split_names(*contents, costliest);
  answer.epsilon_lower = exact ? answer.epsilon : 0;
  if (!exact) {
    answer.accountant = "gdp-clt (approximation)";
    answer.note = "a central-limit approximation for subsampled mechanisms; not a bound in either direction";
  }
  return answer;
}

}  // namespace hyfreedp::accounting
