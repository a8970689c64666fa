// Answers one question to the PLD accountant on one split: it plans, composes upper and lower
// bounds in both directions, and refines the lattice until the bracket is narrow.
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

// `content` holds mechanisms and no selections, each with enough noise for a lattice
// (kSmallestNoise in epsilon_pld.cpp).
Bracket pld_bracket(const SplitContent& content, Neighbouring neighbouring, const Question& question);

}  // namespace hyfreedp::accounting
