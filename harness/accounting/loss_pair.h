// A mechanism's dominating pair (P, Q) on the real line and its privacy loss L(x) = log dP/dQ(x), non-decreasing in x.
//
//   add/remove   P = (1-q) N_0 + q N_1,  Q = N_0   ("remove": the record is in P). The add direction is the pair with
//                P and Q exchanged; its loss is -L.
//   replace one  P = (1-q) N_0 + q N_1,  Q = (1-q) N_0 + q N_-1 (the record's contribution moves from +1 to -1, distance
//                2, at worst). Symmetric: exchanging P and Q mirrors x, so one direction is enough.
//
// N_m is the noise centred at m: Gaussian of standard deviation sigma or Laplace of scale sigma, in units of the
// add/remove sensitivity. Poisson subsampling: Zhu, Dong & Wang 2022, Proposition 30 (dominating pairs under subsampling).
#pragma once

#include <vector>

#include "harness/accounting/mechanism.h"

namespace hyfreedp::accounting {

// Both tails of one noise distribution at a point, the smaller one exact in relative terms.
struct Tails {
  double below = 0;
  double above = 1;
};

// A mass and the relative error that rounding may have left in it.
struct CellMass {
  double mass = 0;
  double doubt = 0;
};

class LossPair {
 public:
  // Laplace under replace-one is only defined here at sample_rate 1 (the accountants refuse it otherwise).
  LossPair(const Mechanism& mechanism, Neighbouring neighbouring);

  // L(x), by a form without cancellation; e^L - 1 likewise.
  double loss(double x) const;
  double excess(double x) const;
  // The largest x with L(x) <= loss; -inf where there is none, +inf where all are.
  double inverse(double loss) const;
  // inf L and sup L; infinite for unbounded losses.
  double infimum() const { return infimum_; }
  double supremum() const { return supremum_; }

  // Masses of (from, to] under P and Q; `doubt` bounds the relative rounding error of both.
  void cell_mass(double from, double to, double& p, double& q, double& doubt) const;
  // P - Q of (x, inf), which is Q - P of (-inf, x]: rate times a cell of the noise, without a difference of tails.
  CellMass gain_above(double x) const;
  double p_above(double x) const;
  double q_above(double x) const;
  double p_below(double x) const;
  // Their logarithms, where the masses may be below the smallest double.
  double log_q_above(double x) const;
  double log_p_below(double x) const;
  double q_below(double x) const;
  // A point beyond which P keeps at most `mass` above, and one beyond which Q keeps at most `mass` below.
  double p_upper_point(double mass) const;
  double q_lower_point(double mass) const;

  bool symmetric() const { return replace_; }
  double rate() const { return rate_; }
  double sigma() const { return sigma_; }
  Noise noise() const { return noise_; }

 private:
  Tails tails(double x, double centre) const;
  double log_tail(double z) const;  // log P(Z > z) of the noise at scale 1
  CellMass noise_mass(double from, double to, double centre) const;

  Noise noise_;
  double rate_;
  double sigma_;
  bool replace_;
  double infimum_;
  double supremum_;
};

}  // namespace hyfreedp::accounting
