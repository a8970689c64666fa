#include "harness/audit/one_run.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <fmt/format.h>

#include "harness/audit/binomial.h"
#include "harness/audit/tail.h"

namespace hyfreedp::audit {
namespace {

constexpr double kLargestEpsilon = 100;

Result<Finding> guesses_finding(const std::vector<OneRunGuesses>& one_run, const Claim& claim, double rate) {
  const auto runs = static_cast<double>(one_run.size());
  double smallest = 1;
  double refuted_up_to = 0;
  std::int64_t guesses = 0;
  std::int64_t correct = 0;
  for (const auto& run : one_run) {
    smallest = std::min(smallest, one_run_p_value(run, claim.epsilon, claim.delta));
    refuted_up_to = std::max(refuted_up_to, one_run_epsilon(run, claim.delta, rate / runs));
    guesses += run.guesses;
    correct += run.correct;
  }
  const double p = of_several(smallest, runs);
  Finding finding;
  finding.refuted = p <= rate;
  finding.text =
      fmt::format("{} of {} guesses from the final weights are right; epsilon >= {:.3g}; p = {:.2g}", correct,
                  guesses, refuted_up_to, p);
  finding.numbers = {
      {"correct", correct}, {"guesses", guesses}, {"epsilon", number(refuted_up_to)}, {"p_value", number(p)}};
  return finding;
}

}  // namespace

double one_run_p_value(const OneRunGuesses& guesses, double epsilon, double delta) {
  if (guesses.correct == 0) return 1;
  const double right = 1 / (1 + std::exp(-epsilon));
  const boost::math::binomial_distribution<double> correct(static_cast<double>(guesses.guesses), right);
  const double beta = binomial_at_least(guesses.correct, guesses.guesses, right);
  double steepest = 0;
  double sum = 0;
  for (std::int64_t i = 1; delta > 0 && i <= guesses.correct; ++i) {
    sum += boost::math::pdf(correct, static_cast<double>(guesses.correct - i));
    steepest = std::max(steepest, sum / static_cast<double>(i));
  }
  return std::min(1.0, beta + 2 * static_cast<double>(guesses.canaries) * delta * steepest);
}

double one_run_epsilon(const OneRunGuesses& guesses, double delta, double rate) {
  if (one_run_p_value(guesses, 0, delta) > rate) return 0;
  double refuted = 0;
  double kept = kLargestEpsilon;
  while (kept - refuted > 1e-9) {
    const double middle = 0.5 * (refuted + kept);
    (one_run_p_value(guesses, middle, delta) <= rate ? refuted : kept) = middle;
  }
  return refuted;
}

Result<void> check_one_run(const std::vector<OneRunGuesses>& one_run) {
  for (const auto& run : one_run) {
    if (0 <= run.correct && run.correct <= run.guesses && run.guesses <= run.canaries) continue;
    return error(fmt::format("A one-run audit needs 0 <= correct <= guesses <= canaries, not {}, {} and {}.",
                             run.correct, run.guesses, run.canaries));
  }
  return {};
}

void plan_one_run_test(const std::vector<OneRunGuesses>& one_run, const Claim& claim, Plan& plan) {
  if (one_run.empty()) return;
  plan.push_back({"one run", "guesses", 1,
                  [&one_run, &claim](double rate) { return guesses_finding(one_run, claim, rate); }});
}

}  // namespace hyfreedp::audit
