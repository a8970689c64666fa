// Composition of discrete privacy losses by an exponentially tilted Fourier transform.
//
// Before the transform the mass at loss l is multiplied by e^{theta l} and normalised. The composed
// tilted distribution is then centred near the epsilon in question, so the rounding error, which an
// FFT spreads evenly, is small against the mass that decides delta there; without the tilt it would
// be about 1e-12 in delta, whatever delta is. Losses outside the window fold back into it; their
// mass is bounded by Chernoff's inequality, and the rounding error by the norms of the spectra.
// Both bounds are added to the upper answer and subtracted from the lower one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "harness/accounting/discrete_loss.h"
#include "harness/accounting/fft.h"

namespace hyfreedp::accounting {

struct LossWindow {
  double theta = 1;      // tilt, > 0
  double low = 0;        // lowest loss of interest
  double up_rate = 1;    // Chernoff exponent for the losses above the window, beyond theta
  std::size_t size = 0;  // lattice points, a power of two
};

enum class Bound { upper, lower };

// Memory and transforms that several compositions share, because allocating them anew each time
// takes longer than the sums.
struct Workbench {
  std::map<std::size_t, std::unique_ptr<RealFft>> transforms = {};
  std::vector<double> mass = {};
  Spectrum spectrum = {};
  Lattice lattice{1};
  LossCells cells = {};
  DiscreteLoss loss = {};
  std::vector<std::vector<double>> spare = {};
  RealFft& fft(std::size_t size);
  std::vector<double> take(std::size_t size, double value);
  void give(std::vector<double>&& memory);
};

// delta(eps) of a composition, on the window's lattice, as an upper or a lower bound.
class ComposedLoss {
 public:
  double delta(double epsilon) const;
  // Smallest epsilon >= 0 with delta(epsilon) <= delta (upper: infinite where none is; lower: 0
  // where all are).
  double epsilon(double delta) const;
  double step() const { return step_; }
  // Returns this object's memory to `bench`. The object must not be used afterwards.
  void hand_back(Workbench& bench) { bench.give(std::move(delta_)); }

 private:
  friend class Composition;
  double value(std::size_t j) const;

  Bound bound_ = Bound::upper;
  double first_ = 0;
  double step_ = 0;
  double constant_ = 0;        // infinite mass (upper), minus what folds in from below (lower)
  double log_scale_ = 0;       // tilted sums times e^{log_scale_} are masses
  double underflow_ = 0;       // what the tilted sums may lack
  double fall_ = 0;            // tilt times step
  std::vector<double> delta_;  // at the lattice points
};

// Takes the losses of a composition one by one.
class Composition {
 public:
  Composition(const LossWindow& window, double step, Bound bound, Workbench& bench);
  void add(const DiscreteLoss& loss, std::int64_t count);
  ComposedLoss finish();  // once, at the end
  // Cost of one transform in points; a transform that does not fit into the caches counts fourfold.
  static double work_of(const LossWindow& window) {
    return static_cast<double>(window.size) * (window.size > (std::size_t{1} << 18) ? 4 : 1);
  }
  double work() const { return work_of(window_); }

 private:
  double tilt(const DiscreteLoss& loss, double count);
  double invert();

  LossWindow window_;
  double step_;
  Bound bound_;
  Workbench& bench_;
  Spectrum product_;
  double log_normaliser_ = 0;  // log of the sum of mass e^{theta l}
  double log_up_ = 0;          // log of the same with theta + up_rate, over the normaliser
  double origin_ = 0;
  double uses_ = 0;
  double infinite_ = 0;
  double weak_doubt_ = 0;  // uses whose spectrum values may be small: see invert()
};

}  // namespace hyfreedp::accounting
