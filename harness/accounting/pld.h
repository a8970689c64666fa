// Composition of discrete privacy losses by an exponentially tilted Fourier transform.
//
// The mass at loss l is multiplied by e^{theta l} and normalised before the transform. The composed tilted distribution
// is centred near the epsilon in question, so rounding, which an FFT spreads evenly, is small against the mass that
// decides delta there; without the tilt it leaves about 1e-12 in delta whatever its size. What the transform folds over
// (losses outside the window) is bounded by Chernoff's inequality and the rounding by the norms of the spectra; both are
// added to the upper answer and taken from the lower one.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/accounting/discrete_loss.h"

namespace hyfreedp::accounting {

struct LossTerm {
  DiscreteLoss loss;
  std::int64_t count = 1;
};

struct LossWindow {
  double theta = 1;      // tilt, > 0
  double low = 0;        // lowest loss of interest
  double up_rate = 1;    // Chernoff exponent for the losses above the window, beyond theta
  std::size_t size = 0;  // lattice points, a power of two
};

// delta(eps) of a composition, on the window's lattice, as an upper or a lower bound.
class ComposedLoss {
 public:
  enum class Bound { upper, lower };
  ComposedLoss(const std::vector<LossTerm>& terms, const LossWindow& window, Bound bound);

  double delta(double epsilon) const;
  // Smallest epsilon >= 0 with delta(epsilon) <= delta (upper: infinite where none is; lower: 0 where all are).
  double epsilon(double delta) const;
  // What rounding and folding may have contributed, relative to delta at the middle of the window.
  double relative_error() const { return relative_error_; }

 private:
  void invert(const std::vector<LossTerm>& terms, const LossWindow& window);
  double value(std::size_t j) const;

  Bound bound_;
  double first_ = 0;
  double step_ = 0;
  double constant_ = 0;        // infinite mass (upper), minus the slack (lower)
  double log_scale_ = 0;       // tilted sums times e^{log_scale_} are masses
  std::vector<double> delta_;  // at the lattice points
  double relative_error_ = 0;
};

}  // namespace hyfreedp::accounting
