// The PLD accountant: closed forms where there are, lattices elsewhere, the largest over splits.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "harness/accounting/accountant.h"
#include "harness/accounting/gdp.h"
#include "harness/accounting/one_step.h"
#include "harness/accounting/pld_run.h"

namespace hyfreedp::accounting {
namespace {

constexpr double kSmallestNoise = 0.02;

// Next to no noise: epsilon is in the thousands, and that of the same noise without sampling bounds
// it.
Result<Bracket> unsampled_bracket(SplitContent content, Neighbouring neighbouring, const Question& question) {
  for (auto& mechanism : content.mechanisms) {
    if (mechanism.noise == Noise::laplace) {
      return error(fmt::format("The noise multiplier {} is below {}, too small for the PLD accountant.",
                               mechanism.noise_multiplier, kSmallestNoise));
    }
    mechanism.sample_rate = 1;
  }
  const double mu = *exact_mu(content, neighbouring);
  const auto upper =
      question.delta ? gdp_epsilon(mu, *question.delta) : Result<double>(gdp_delta(mu, *question.epsilon));
  if (!upper) return upper.error();
  return Bracket{*upper, 0};
}

Result<Bracket> price(const SplitContent& content, Neighbouring neighbouring, const Question& question) {
  if (!content.selections.empty()) {
    return error(
        "Private selection has no privacy loss distribution here; the PLD accountant cannot price it. Use "
        "RDP.");
  }
  for (const auto& mechanism : content.mechanisms) {
    if (mechanism.noise == Noise::laplace && neighbouring == Neighbouring::replace_one &&
        mechanism.sample_rate < 1) {
      return error(
          "Subsampled Laplace noise is priced under add-remove neighbours only, not under replace-one.");
    }
  }
  if (const auto mu = exact_mu(content, neighbouring)) {
    const auto value = question.delta ? gdp_epsilon(*mu, *question.delta)
                                      : Result<double>(gdp_delta(*mu, *question.epsilon));
    if (!value) return value.error();
    return Bracket{*value, *value};
  }
  if (content.mechanisms.size() == 1 && content.mechanisms[0].count == 1) {
    const LossPair pair(content.mechanisms[0], neighbouring);
    return question.delta ? one_step_epsilon(pair, *question.delta) : one_step_delta(pair, *question.epsilon);
  }
  const auto smallest =
      std::min_element(content.mechanisms.begin(), content.mechanisms.end(),
                       [](const auto& a, const auto& b) { return a.noise_multiplier < b.noise_multiplier; });
  if (smallest->noise_multiplier < kSmallestNoise) return unsampled_bracket(content, neighbouring, question);
  auto bracket = pld_bracket(content, neighbouring, question);
  const bool has_laplace = std::any_of(content.mechanisms.begin(), content.mechanisms.end(),
                                       [](const Mechanism& one) { return one.noise == Noise::laplace; });
  if (!std::isfinite(bracket.upper) && !has_laplace) {  // beyond what the lattice reaches
    const auto unsampled = unsampled_bracket(content, neighbouring, question);
    if (unsampled) bracket.upper = unsampled->upper;
  }
  return bracket;
}

}  // namespace

Result<EpsilonAnswer> epsilon_pld(const Events& events, double delta) {
  if (!(delta > 0 && delta < 1)) return error(fmt::format("Delta is {}; it must lie in (0, 1).", delta));
  const auto contents = split_contents(events);
  if (!contents) return contents.error();
  EpsilonAnswer answer;
  answer.delta = delta;
  answer.accountant = "pld";
  answer.neighbouring = events.neighbouring;
  std::size_t costliest = 0;
  for (const auto& content : *contents) {
    const auto bracket = price(content, events.neighbouring, {delta, {}});
    if (!bracket) return bracket.error();
    if (bracket->upper > answer.epsilon) costliest = static_cast<std::size_t>(&content - contents->data());
    answer.epsilon = std::max(answer.epsilon, bracket->upper);
    answer.epsilon_lower = std::max(answer.epsilon_lower, bracket->lower);
  }
  answer.splits = split_names(*contents, costliest);
  if (answer.epsilon > 0 && answer.epsilon - answer.epsilon_lower > 2 * kPldWidth * answer.epsilon) {
    answer.note = fmt::format("wide bracket: the true epsilon is at least {:.3g}", answer.epsilon_lower);
  }
  return answer;
}

Result<DeltaAnswer> delta_pld(const Events& events, double epsilon) {
  if (!(epsilon >= 0) || !std::isfinite(epsilon)) {
    return error(fmt::format("Epsilon is {}; it must be a finite number, at least 0.", epsilon));
  }
  const auto contents = split_contents(events);
  if (!contents) return contents.error();
  DeltaAnswer answer;
  answer.epsilon = epsilon;
  answer.neighbouring = events.neighbouring;
  for (const auto& content : *contents) {
    const auto bracket = price(content, events.neighbouring, {{}, epsilon});
    if (!bracket) return bracket.error();
    answer.delta = std::max(answer.delta, bracket->upper);
    answer.delta_lower = std::max(answer.delta_lower, bracket->lower);
  }
  return answer;
}

}  // namespace hyfreedp::accounting
