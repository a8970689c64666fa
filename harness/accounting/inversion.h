// Bounds of a composition that are free of a lattice: the moment generating function of discretized
// losses, inverted.
//
//   delta(eps) = 1/(2 pi i) int M(s) e^{-s eps} / (s (s + 1)) ds along Re s = theta > 0,
//   M(s) = E_P[e^{s L}],
//
// a product over mechanisms, so the cost does not depend on the number of steps. A mechanism's loss
// is discretized on cells of its noise that are halved where the two bounds differ most:
//
//   upper  connect the dots (discrete_loss.h), between cells of any widths
//   lower  telling only the cell of the outcome, whose loss is log(P mass / Q mass)
//
// Every further step is a bound too:
//   smoothing  the upper bound composes one more Gaussian, of mu = eta. In M this is a factor
//              e^{eta^2 s (s + 1) / 2}, which ends the integral. It raises delta(eps) by
//              E[gap(L - eps)] with gap(y) = int_0^eta phi(y / u + u / 2) du, because
//              (1 - e^{-y})_+ is the price of an option and phi its vega; and
//              gap(y) <= eta phi(y / eta) e^{-y / 2}. The lower bound subtracts that again: its
//              kernel is e^{eta^2 s (s + 1) / 2} (1 / (s (s + 1)) - eta^2 e^{eta^2 / 8}).
//   sum        the trapezoid rule with step 2 pi / W is the sum over all whole m of
//              e^{theta m W} delta(eps + m W), with no negative term: an upper bound as it is. For
//              a lower bound the terms m < 0 are at most 1 / (e^{theta W} - 1) together; Chernoff's
//              inequality bounds those with m > 0.
//   end        what is left out beyond the last term is bounded by the smoothing's factor.
//   rounding   phases are whole multiples of 2^-64 turns, so they are exact however far the sum
//              goes; the errors of sums and powers are bounded and charged.
//
// It prices what the lattice of pld.h does not: losses in rare jumps, where a lattice that resolves
// the many tiny losses is too long for the few large ones; very many steps; very many mechanisms.
#pragma once

#include <optional>
#include <vector>

#include "harness/accounting/pld_plan.h"
#include "harness/accounting/pld_run.h"

namespace hyfreedp::accounting {

// A bracket of the answer, the larger one over both directions. None if it does not come to an
// answer.
std::optional<Bracket> inversion_bracket(std::vector<Member> members, const Question& question);

}  // namespace hyfreedp::accounting
