// The accountants: they turn the events of a run into a privacy guarantee (epsilon, delta), and a
// target guarantee into the noise that meets it.
//
// Definition. For neighbouring data sets on which the outputs have the laws P and Q, delta(eps) is
// the supremum over all events E of P(E) - e^eps Q(E), taken over both directions (P, Q) and
// (Q, P). epsilon(delta) is the smallest eps >= 0 with delta(eps) <= delta.
//
//   PLD   privacy loss distribution (pld.h): the loss is discretized pessimistically by connecting
//         the dots (Doroshenko et al. 2022) and optimistically by post-processing
//         (discrete_loss.h), and composed by a tilted FFT whose rounding error is bounded. The true
//         epsilon lies in [epsilon_lower, epsilon].
//   RDP   Renyi DP over a table of orders, converted to (epsilon, delta) by Canonne,
//         Kamath & Steinke 2020, Proposition 12 (also Balle et al. 2020, Theorem 21), or by Mironov
//         2017 for reproducing older tables. RDP is the only accountant here that prices private
//         selection.
//   GDP   Gaussian DP. It is exact at sample rate 1. Below 1 it is a central-limit approximation:
//         the answer is labelled so and is not a bound.
//
// Assumptions. Every batch is a Poisson sample drawn afresh. Noise is exact Gaussian or Laplace
// noise, given in units of the add/remove sensitivity (1; under replace-one the distance is 2).
// Releases may be chosen adaptively; sample rates and noise multipliers may not. Errors: an
// accountant returns an error, as a sentence, for events that it cannot price. Edge cases: no event
// costs epsilon 0; an infinite epsilon is a valid answer and not an error.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/accounting/event.h"

namespace hyfreedp::accounting {

struct EpsilonAnswer {
  double epsilon = 0;        // upper bound
  double epsilon_lower = 0;  // lower bound on the true value (RDP: 0; GDP exact: = epsilon)
  double delta = 0;
  std::string accountant;       // "pld", "rdp", "rdp, liu-talwar", "gdp", "gdp-clt (approximation)"
  std::optional<double> order;  // RDP: the order in force
  std::string note;             // e.g. "the order is at the end of the range"
  Neighbouring neighbouring = Neighbouring::add_remove;
  // that were touched; the one whose epsilon this is comes first
  std::vector<std::string> splits = {};
};

enum class Conversion { canonne_kamath_steinke, mironov };

// The default RDP orders: 1.01 to 1.49 in steps of 0.01, 1.5 to 10.95 in steps of 0.05, the
// integers 11 to 63, and integers about 5 % apart from there up to 4096.
const std::vector<double>& default_orders();

// The epsilon of `events` at `delta`, a number in (0, 1). If the events touch several splits, the
// answer is the largest over the splits. An error says which event cannot be priced.
//
// RDP takes the best order of `orders`; with the default table, and no selection among the events,
// it also searches the best real order.
//
// PLD: the upper bound lies about 3e-5 to 1e-4 (relative) above the true value and the lower bound
// a few times as far below it; thousands of different events are priced to 5e-4. If the bracket
// stays wider than 0.2 % (next to no noise, or rounding), `note` says so. A noise multiplier below
// 0.02 on a sampled batch is priced as if the batch were not sampled (lower bound 0).
Result<EpsilonAnswer> epsilon_pld(const Events& events, double delta);
Result<EpsilonAnswer> epsilon_rdp(const Events& events, double delta,
                                  const std::vector<double>& orders = default_orders(),
                                  Conversion conversion = Conversion::canonne_kamath_steinke);
Result<EpsilonAnswer> epsilon_gdp(const Events& events, double delta);

// The delta at `epsilon` >= 0 by PLD. The true value lies in [delta_lower, delta]. If the events
// touch several splits, the answer is the largest over the splits.
struct DeltaAnswer {
  double delta = 0;
  double delta_lower = 0;
  double epsilon = 0;
  Neighbouring neighbouring = Neighbouring::add_remove;
};
Result<DeltaAnswer> delta_pld(const Events& events, double epsilon);

// The epsilon that the program reports: PLD where it applies, with RDP beside it. `epsilon` is the
// smaller of the two upper bounds, which is an upper bound too.
struct ReportedEpsilon {
  double epsilon = 0;
  double epsilon_lower = 0;
  double delta = 0;
  std::optional<double> pld;  // upper bound
  std::optional<double> rdp;
  std::optional<double> rdp_order;
  std::string accountant;  // the one that gave `epsilon`
  std::string note;
  // as in EpsilonAnswer, of the accountant that gave `epsilon`
  std::vector<std::string> splits = {};
  // The accountant that set the noise of a table's row ("pld", "rdp"), whichever gave `epsilon`.
  // Empty: none did (the spec fixes the noise), or it was not recorded.
  std::string noise_accountant = {};

  static constexpr std::array kLeftOut = {"noise_accountant"};
};
Result<ReportedEpsilon> report_epsilon(const Events& events, double delta);

// The smallest noise multiplier that meets an epsilon > 0 and a delta in (0, 1). `events_at(noise)`
// gives the events of a run with that noise; its epsilon must fall as the noise grows. `accountant`
// is "pld" or "rdp".
//
// Guarantee: at the returned noise the epsilon is at most the target, priced by that accountant,
// and at noise smaller by 1e-4 (relative) it is not, unless the smallest noise that is tried, 0.01,
// already meets the target. The inversion of contour.h only chooses where the search begins.
// Errors: an unknown accountant, and a target that no noise reaches; the message then names the
// smallest epsilon that can be reached.
struct Calibration {
  double noise_multiplier = 0;
  EpsilonAnswer answer;
};
Result<Calibration> calibrate(const std::function<Events(double noise)>& events_at, double epsilon,
                              double delta, const std::string& accountant = "pld");

// The same for `steps` steps of a Gaussian mechanism on Poisson samples of rate `sample_rate`.
Result<Calibration> calibrate_gaussian(double sample_rate, std::int64_t steps, double epsilon, double delta,
                                       const std::string& accountant = "pld");

// Conversions between mu-GDP and (epsilon, delta); exact for the Gaussian mechanism
// (Balle & Wang 2018, Theorem 8). An error for numbers out of range.
double gdp_delta(double mu, double epsilon);
Result<double> gdp_epsilon(double mu, double delta);
Result<double> gdp_mu(double epsilon, double delta);

// The cost of releases of Gaussian noise on all records by "pld" or "rdp", as a function of their
// mu (noise multiplier 1/mu; the squares of several add up), and the largest mu that meets an
// epsilon. By PLD these are the exact conversions above.
Result<double> epsilon_of_mu(double mu, double delta, const std::string& accountant);
Result<double> mu_of_epsilon(double epsilon, double delta, const std::string& accountant);

}  // namespace hyfreedp::accounting
