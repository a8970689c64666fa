// Epsilon and delta of a composition by numerical inversion of the loss's moment generating
// function.
//
//   delta(eps) = 1/(2 pi i) int M(s) e^{-s eps} / (s (s + 1)) ds along Re s = theta > 0,
//   M(s) = E_P[e^{s L}],
//
// for either direction, the larger of the two. (delta(eps) = E[(1 - e^{eps - L})_+] is the
// convolution of the law of L with a kernel whose two-sided Laplace transform is 1 / (s (s + 1));
// e.g. Gopi, Lee & Wutschitz 2021 state it in Fourier form.) The cost does not depend on the number
// of steps, because M is a product over mechanisms. theta is the saddle point.
//
//   in x   the trapezoid rule over the noise converges geometrically: the integrand is analytic for
//          |Im x| < pi sigma^2.
//   in s   a trapezoid rule with step 2 pi / W gives the sum over all m of e^{theta m W}
//          delta(eps + m W) exactly: its aliasing error is explicit and positive, at most
//          e^{-theta W} / (1 - e^{-theta W}) from below, and what Chernoff's inequality allows from
//          above. W is chosen so that both are below 1e-9 of delta.
//
// The sum over s ends where its terms have died away; nothing bounds the rest. So this is a
// cross-check of the PLD accountant and a guide for its grid and for searches, never an answer. It
// agrees with quadrature of known cases to 1e-8.
//
// The functions return nothing where the inversion does not apply: for Laplace noise, private
// selection, or numbers out of range; where the moment generating function falls off too slowly
// (one or two steps); and where the work would exceed `budget` (terms times nodes).
#pragma once

#include <optional>

#include "harness/accounting/accountant.h"
#include "harness/accounting/pld_plan.h"

namespace hyfreedp::accounting {

inline constexpr double kContourBudget = 2e7;

std::optional<double> contour_delta(const Events& events, double epsilon, double budget = kContourBudget);
// Smallest epsilon >= 0 with delta(epsilon) <= delta, for delta in (0, 1).
std::optional<double> contour_epsilon(const Events& events, double delta, double budget = kContourBudget);

// One direction of members; delta(eps), or the (unclamped) epsilon.
std::optional<double> contour_value(std::vector<Member> members, Direction direction,
                                    const Question& question, double budget);

}  // namespace hyfreedp::accounting
