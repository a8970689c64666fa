// Discretization of one mechanism's privacy loss on a lattice, from above and from below.
//
// A dominating pair is determined by its hockey-stick curve delta(x) = E_P[(1 - x e^{-L})_+], x = e^eps: convex and
// decreasing. A discrete loss with masses on the lattice losses has a curve that is linear between lattice points.
//
//   upper  connect the dots (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022): the curve through the true values at
//          the lattice points. Convexity puts it above the true one. Equivalently the mass of every cell goes to the
//          cell's two ends so that both its P and its Q mass are kept.
//   lower  the same curve lowered at each lattice point by at least the largest gap between chord and curve in the two
//          cells beside it, so that it lies below the true curve everywhere. The gap is bounded by the triangle of the
//          tangents at a cell's ends. Where lowering breaks convexity, lattice points are taken out.
//
// Both orders are kept by composition, and by P <= P' for sub-probabilities.
#pragma once

#include <vector>

#include "harness/accounting/loss_pair.h"

namespace hyfreedp::accounting {

// Masses of P and Q on the cells (first + i step, first + (i + 1) step] and outside them.
struct LossCells {
  double first = 0;
  double step = 0;
  std::vector<double> p;
  std::vector<double> q;
  std::vector<double> doubt;        // relative rounding error of p and q
  double p_above = 0, q_above = 0;  // above the last cell
  double p_below = 0, q_below = 0;  // at or below `first`
};

// The lattice is anchored at the infimum of the loss, or at 0 where there is none: that is where a subsampled loss
// piles up. Cells reach until P keeps less than `tail` above (and, for unbounded losses, Q less than `tail` below).
LossCells loss_cells(const LossPair& pair, double step, double tail);
// The exchanged pair, with loss -L.
LossCells exchanged(const LossCells& cells);
double lattice_anchor(const LossPair& pair);

struct DiscreteLoss {
  double first = 0;  // loss of mass[0]
  double step = 0;
  std::vector<double> mass;  // under P
  double infinite = 0;       // upper: mass at infinite loss
  double slack = 0;          // lower: what delta may be too large by, a use
};

DiscreteLoss discrete_upper(const LossCells& cells);
DiscreteLoss discrete_lower(const LossCells& cells);

}  // namespace hyfreedp::accounting
