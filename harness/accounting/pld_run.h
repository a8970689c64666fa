// One question to the PLD accountant on one split: plans, composes from above and below in both directions, and refines
// until the bracket is narrow.
#pragma once

#include "harness/accounting/mechanism.h"
#include "harness/accounting/pld_plan.h"

namespace hyfreedp::accounting {

struct Bracket {
  double upper = 0;
  double lower = 0;
};

// Relative width of the bracket above which the lattice is refined.
inline constexpr double kPldWidth = 9e-4;

// `content` holds mechanisms only; every noise is large enough for a lattice (kSmallestNoise in epsilon_pld.cpp).
Bracket pld_bracket(const SplitContent& content, Neighbouring neighbouring, const Question& question);

}  // namespace hyfreedp::accounting
