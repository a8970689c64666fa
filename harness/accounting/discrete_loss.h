// Discretization of one mechanism's privacy loss on a lattice, from above and from below.
//
// A dominating pair is determined by its hockey-stick curve
// delta(x) = E_P[(1 - x e^{-L})_+], x = e^eps: convex and decreasing. A discrete loss with masses
// on the lattice losses has a curve that is linear between lattice points.
//
//   upper  connect the dots (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022): the curve through
//          the true values at the lattice points. Convexity puts it above the true one.
//          Equivalently the mass of every cell goes to the cell's two ends so that both its P and
//          its Q mass are kept.
//   lower  post-processing: telling only which group of neighbouring cells the outcome fell in
//          (with a cell's mass shared between two groups by a coin) makes P and Q no easier to tell
//          apart (data processing). The groups are chosen so that the loss of each,
//          log(P mass / Q mass), is a lattice point. The curve is a chain of tangents.
//
// Composition keeps both orders; so do lowering P and, for a lower bound, raising Q. With lattice
// step h the upper bound adds h^2 / 6 to the variance of a spread-out loss; the lower bound, with
// lattice step H, subtracts H^2 / 12 to H^2 / 3.
#pragma once

#include <vector>

#include "harness/accounting/loss_pair.h"

namespace hyfreedp::accounting {

// e^{i step} - 1 and its logarithm, which the cells of every mechanism on one lattice share.
class Lattice {
 public:
  explicit Lattice(double step) : step_(step) {}
  double step() const { return step_; }
  void restart(double step);                     // forgets the entries, keeps their memory
  void reach(std::size_t from, std::size_t to);  // makes entries from .. to available
  double log_growth(std::size_t i) const { return log_growth_[i - start_]; }
  double mean_growth(std::size_t i) const {
    return mean_growth_[i - start_];
  }  // geometric, of entries i and i + 1

 private:
  double step_;
  std::size_t start_ = 0;
  std::vector<double> growth_;
  std::vector<double> log_growth_;
  std::vector<double> mean_growth_;
};

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

// Fills `cells` with the masses of `pair` on the lattice. The lattice starts at the infimum of the
// loss, or at 0 where there is none, because a subsampled loss concentrates there. The cells reach
// from the point below which Q has less than `tail` to the point above which P has less than
// `tail`. `cells` is overwritten; passing the cells of the last call reuses their memory.
void loss_cells(const LossPair& pair, Lattice& lattice, double tail, LossCells& cells);
// Turns the cells into those of the exchanged pair, with loss -L.
void exchange(LossCells& cells);
double lattice_anchor(const LossPair& pair);

struct DiscreteLoss {
  double first = 0;  // loss of mass[0]
  double step = 0;
  std::vector<double> mass;  // under P
  double infinite = 0;       // upper: mass at infinite loss
};

void discrete_upper(const LossCells& cells, DiscreteLoss& loss);
// The lower bound's loss, on a lattice of its own, `coarsening` times as coarse.
void discrete_lower(const LossCells& cells, int coarsening, DiscreteLoss& loss);

}  // namespace hyfreedp::accounting
