// A mechanism's dominating pair (P, Q) on the real line and its privacy loss L(x) = log dP/dQ(x),
// non-decreasing in x.
//
//   add/remove   "remove", the direction in which P has the record: P = (1-q) N_0 + q N_1 and
//                Q = N_0. The direction "add" is the pair with P and Q exchanged; its loss is -L.
//   replace one  P = (1-q) N_0 + q N_1 and Q = (1-q) N_0 + q N_-1: at worst, the record's
//                contribution moves from +1 to -1, a distance of 2. The pair is symmetric
//                (exchanging P and Q mirrors x), so one direction suffices.
//
// N_m is the noise centred at m: Gaussian of standard deviation sigma or Laplace of scale sigma, in
// units of the add/remove sensitivity. Poisson subsampling: Zhu, Dong & Wang 2022, Proposition 30
// (dominating pairs under subsampling).
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
  // A Laplace pair under replace-one is defined at sample_rate 1 only; the accountants refuse
  // others before they come here.
  LossPair(const Mechanism& mechanism, Neighbouring neighbouring);

  // L(x) and e^{L(x)} - 1, each in a form without cancellation.
  double loss(double x) const;
  double excess(double x) const;
  // The largest x with L(x) <= loss; -inf where there is none, +inf where all are.
  double inverse(double loss) const;
  // inf L and sup L; infinite for unbounded losses.
  double infimum() const { return infimum_; }
  double supremum() const { return supremum_; }

  // Masses of (from, to] under P and Q; `doubt` bounds the relative rounding error of both.
  void cell_mass(double from, double to, double& p, double& q, double& doubt) const;
  // P - Q of (x, inf), which is Q - P of (-inf, x]: rate times a cell of the noise, without a
  // difference of tails.
  CellMass gain_above(double x) const;
  double p_above(double x) const;
  double q_above(double x) const;
  double p_below(double x) const;
  // Logarithms of the tails, for masses below the smallest double.
  double log_q_above(double x) const;
  double log_p_below(double x) const;
  double q_below(double x) const;
  // A point beyond which P keeps at most `mass` above, and one beyond which Q keeps at most `mass`
  // below.
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
