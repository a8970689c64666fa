#include "harness/audit/canary_tests.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/accounting/accountant.h"
#include "harness/accounting/normal.h"
#include "harness/audit/binomial.h"
#include "harness/audit/tail.h"

namespace hyfreedp::audit {
namespace {

constexpr const char* kGroup = "canaries";
// The audited epsilon is what people read, and its width depends on the rate; it gets the larger
// share.
constexpr double kBoundWeight = 5;
// shown beside, to compare with what papers print; refutes nothing
constexpr double kUsualRate = 0.05;
constexpr double kLeastMu =
    1e-4;  // below, the noise multiplier leaves the accountants' range and adds nothing

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::int64_t above(const std::vector<double>& values, double threshold) {
  return std::count_if(values.begin(), values.end(), [&](double value) { return value > threshold; });
}

// Phi^-1(1 - rate).
double quantile_above(double rate) {
  return rate < 1 ? accounting::normal_tail_inverse(rate) : -std::numeric_limits<double>::infinity();
}

bool finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

std::string kinds_text(const std::vector<CanaryScores>& canaries, const std::vector<MuBound>& bounds) {
  std::string text;
  for (std::size_t k = 0; k < canaries.size(); ++k) {
    if (k > 0) text += ", ";
    text += fmt::format("{} mu >= {:.3f} of {:.3f} ({} in, {} out)", canaries[k].kind, bounds[k].mu,
                        canaries[k].claimed_mu, canaries[k].in.size(), canaries[k].out.size());
  }
  return text;
}

Result<Finding> bound_finding(const std::vector<CanaryScores>& canaries, const Claim& claim, double rate) {
  const auto audited = audited_epsilon(canaries, claim.delta, rate);
  if (!audited) return audited.error();
  const auto usual = audited_epsilon(canaries, claim.delta, kUsualRate);
  if (!usual) return usual.error();
  Finding finding;
  finding.refuted = audited->epsilon > claim.epsilon;
  finding.text = fmt::format(
      "epsilon >= {:.4g} at delta {:.3g} with confidence {:.6g} ({:.4g} with 0.95): {}", audited->epsilon,
      claim.delta, 1 - rate, usual->epsilon, kinds_text(canaries, audited->kinds));
  finding.numbers["epsilon"] = number(audited->epsilon);
  finding.numbers["epsilon_95"] = number(usual->epsilon);
  for (std::size_t k = 0; k < canaries.size(); ++k) {
    finding.numbers["mu, " + canaries[k].kind] = number(audited->kinds[k].mu);
  }
  return finding;
}

PValue absent_scores(const CanaryScores& scores) {
  double squares = 0;
  for (const double score : scores.out) squares += score * score;
  const auto n = static_cast<double>(scores.out.size());
  const double average = mean(scores.out);
  const double p = std::min(normal_two_sided(average * std::sqrt(n)), chi_square_two_sided(squares, n));
  return {
      of_several(p, 2),
      fmt::format("{:.0f} scores without the canary have mean {:.3f} and deviation {:.4f} (0 and 1 expected)",
                  n, average, std::sqrt(squares / n)),
      {{"mean", number(average)}, {"deviation", number(std::sqrt(squares / n))}}};
}

PValue present_scores(const CanaryScores& scores) {
  const auto n = static_cast<double>(scores.in.size());
  const double average = mean(scores.in);
  return {accounting::normal_tail((average - scores.claimed_mu) * std::sqrt(n)),
          fmt::format("{:.0f} scores with the canary have mean {:.3f} (at most {:.3f} claimed, +-{:.3f})", n,
                      average, scores.claimed_mu, 1 / std::sqrt(n)),
          {{"mean", number(average)}, {"claimed", number(scores.claimed_mu)}}};
}

}  // namespace

MuBound canary_mu(const CanaryScores& scores, double rate) {
  const double threshold = scores.claimed_mu / 2;
  const auto in = static_cast<std::int64_t>(scores.in.size());
  const auto out = static_cast<std::int64_t>(scores.out.size());
  MuBound bound{0, above(scores.out, threshold), in - above(scores.in, threshold)};
  const double false_positive = binomial_upper_bound(bound.false_positives, out, rate / 2);
  const double false_negative = binomial_upper_bound(bound.false_negatives, in, rate / 2);
  bound.mu = std::max(0.0, quantile_above(false_positive) + quantile_above(false_negative));
  return bound;
}

Result<AuditedEpsilon> audited_epsilon(const std::vector<CanaryScores>& canaries, double delta, double rate) {
  AuditedEpsilon audited;
  accounting::Events events;
  for (const auto& scores : canaries) {
    const MuBound bound = canary_mu(scores, rate / static_cast<double>(canaries.size()));
    audited.kinds.push_back(bound);
    if (bound.mu < kLeastMu || scores.steps == 0) continue;
    events.events.push_back(accounting::poisson_gaussian(scores.sample_rate, 1 / bound.mu, scores.steps));
  }
  if (events.events.empty()) return audited;
  const auto answer = accounting::epsilon_pld(events, delta);
  if (!answer) return in_context("Audited epsilon", answer.error());
  audited.epsilon = answer->epsilon_lower;
  return audited;
}

Result<void> check_canaries(const std::vector<CanaryScores>& canaries) {
  for (const auto& scores : canaries) {
    const std::string where = "The canary scores of '" + scores.kind + "'";
    if (!(scores.sample_rate > 0 && scores.sample_rate <= 1) || scores.steps < 0 ||
        !(scores.claimed_mu > 0)) {
      return error(where + " need a sampling rate in (0, 1], steps >= 0 and a claimed mu > 0.");
    }
  }
  return {};
}

void plan_canary_tests(const std::vector<CanaryScores>& canaries, const Claim& claim, Plan& plan) {
  if (canaries.empty()) return;
  for (const auto& scores : canaries) {
    if (finite(scores.in) && finite(scores.out)) continue;
    plan.push_back({kGroup, "finite scores", 0, [&scores](double) -> Result<Finding> {
                      Finding finding;
                      finding.refuted = true;
                      finding.text = "a score of '" + scores.kind + "' is not a finite number";
                      return finding;
                    }});
    return;
  }
  plan.push_back({kGroup, "audited epsilon", kBoundWeight,
                  [&canaries, &claim](double rate) { return bound_finding(canaries, claim, rate); }});
  for (const auto& scores : canaries) {
    const auto add = [&](const char* name, PValue (*test)(const CanaryScores&)) {
      plan.push_back(p_value_test(kGroup, fmt::format("{}, {}", name, scores.kind),
                                  [&scores, test] { return test(scores); }));
    };
    if (!scores.out.empty()) add("scores out", absent_scores);
    if (!scores.in.empty()) add("scores in", present_scores);
  }
}

}  // namespace hyfreedp::audit
