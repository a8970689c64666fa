// From events to epsilon.
//
// Definition: for neighbouring data sets, outputs with laws P and Q, delta(eps) = sup over events E of P(E) - e^eps Q(E), the
// larger of both directions; epsilon(delta) is the smallest eps >= 0 with delta(eps) <= delta.
//
//   PLD   privacy loss distribution, connect-the-dots (pessimistic; Doroshenko et al. 2022) and an optimistic version by
//         post-processing (discrete_loss.h), so that the true epsilon lies in [epsilon_lower, epsilon]; tilted FFT with its
//         rounding bounded (pld.h); both add and remove directions.
//   RDP   Renyi DP over a table of orders, converted after Canonne, Kamath & Steinke 2020, Prop. 12 (Balle et al.
//         2020, Thm 21), or Mironov 2017 for reproducing older tables. The only one that prices private selection.
//   GDP   exact for q = 1; for q < 1 a central-limit approximation, labelled, never a bound.
//
// Assumptions: every batch is a Poisson sample drawn afresh; noise is exact Gaussian or Laplace noise in units of the
// add/remove sensitivity (1; under replace-one the distance is 2); adaptive choice of what is released is allowed, adaptive
// choice of rates and noises is not. Every accountant refuses, with a sentence, what it cannot price. Edge cases: nothing
// released costs 0; an infinite epsilon is an answer, not an error.
#pragma once

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
  std::vector<std::string> splits = {};  // that were touched; the one whose epsilon this is comes first
};

enum class Conversion { canonne_kamath_steinke, mironov };

// 1.01, 1.02, ... dense near 1, then 1.05 steps to 10.95, integers to 63 and on to 4096.
const std::vector<double>& default_orders();

// Epsilon at `delta` in (0, 1). The largest over splits. RDP: the best of the table, and with the default table (and no
// selection) the best real order beside it.
//
// PLD: the upper bound is about 3e-5 to 1e-4 above the true value and the lower one a few times as far below; where the
// bracket stays wider than 0.2 % the note says so (losses in rare jumps over 1e6 uses; rounding limits them). Noise below 0.02
// on a sampled batch is priced as if it were not sampled (lower bound 0).
Result<EpsilonAnswer> epsilon_pld(const Events& events, double delta);
Result<EpsilonAnswer> epsilon_rdp(const Events& events, double delta,
                                  const std::vector<double>& orders = default_orders(),
                                  Conversion conversion = Conversion::canonne_kamath_steinke);
Result<EpsilonAnswer> epsilon_gdp(const Events& events, double delta);

// Delta at `epsilon` >= 0 by PLD: the true value lies in [delta_lower, delta]. The largest over splits.
struct DeltaAnswer {
  double delta = 0;
  double delta_lower = 0;
  double epsilon = 0;
  Neighbouring neighbouring = Neighbouring::add_remove;
};
Result<DeltaAnswer> delta_pld(const Events& events, double epsilon);

// What the program reports: PLD where it applies with RDP beside it; `epsilon` is the smaller of the two upper bounds.
struct ReportedEpsilon {
  double epsilon = 0;
  double epsilon_lower = 0;
  double delta = 0;
  std::optional<double> pld;  // upper bound
  std::optional<double> rdp;
  std::optional<double> rdp_order;
  std::string accountant;  // the one that gave `epsilon`
  std::string note;
  std::vector<std::string> splits = {};  // as in EpsilonAnswer, of the accountant that gave `epsilon`
};
Result<ReportedEpsilon> report_epsilon(const Events& events, double delta);

// Smallest noise, one-sided, for an epsilon > 0 and a delta in (0, 1): at the returned value epsilon(events_at(noise)) <=
// target, and 1e-4 relative below it is not (or the lowest noise tried, 0.01, already meets the target). `accountant`: "pld"
// or "rdp", the one that priced the answer. epsilon must fall as noise grows. Where it applies, the inversion of contour.h
// says where to begin; what is returned was priced by the accountant on both sides. Infeasible targets are errors that say
// what the best reachable epsilon is.
struct Calibration {
  double noise_multiplier = 0;
  EpsilonAnswer answer;
};
Result<Calibration> calibrate(const std::function<Events(double noise)>& events_at, double epsilon,
                              double delta, const std::string& accountant = "pld");

// T steps of a Poisson-subsampled Gaussian.
Result<Calibration> calibrate_gaussian(double sample_rate, std::int64_t steps, double epsilon, double delta,
                                       const std::string& accountant = "pld");

// HyFreeDP's split of one budget between gradients and loss probes (Liu & Bu 2025, Algorithm 2):
// sigma_g = gamma * (noise without probes), sigma_l from what is left, in one of the modes. A clip count (adaptive clipping)
// is a second release of every gradient batch, folded with it in every mode, and a mean of the features one release of the whole
// split; both noises leave room for them.
enum class ProbeAccounting {
  folded,          // sound: probes on the gradient's own batch, folded before amplification
  separate_batch,  // sound: probes on their own Poisson batch of rate probe_sample_rate
  paper,           // as published: every release priced as if it had its own batch. Understates epsilon.
  paper_appendix,  // appendix C: two epsilons added. Same flaw, and a 2 delta statement.
};
struct ProbeSplitRequest {
  double sample_rate = 0;
  std::int64_t steps = 0;
  std::int64_t interval = 5;     // K: probes at t = 0, K, 2K, ...: ceil(T/K) of them
  int points = 3;                // m losses a probe
  double gamma = 1.01;           // > 1
  double probe_sample_rate = 0;  // separate_batch only; 0: same as sample_rate
  double count_noise = 0;        // noise multiplier of a clip count on each gradient batch; 0: there is none
  double mean_noise = 0;         // noise multiplier of one full-batch release before step 0; 0: there is none
  double epsilon = 0;
  double delta = 0;
  ProbeAccounting mode = ProbeAccounting::folded;
  // paper modes were published with RDP; folded and separate_batch are calibrated by PLD.
  std::string accountant = "pld";
  std::vector<double> orders = {};  // RDP orders; empty: default_orders()
};
struct ProbeSplit {
  double sigma = 0;    // without probes
  double sigma_g = 0;  // gamma * sigma
  double sigma_l = 0;
  double claimed_epsilon = 0;  // what the mode claims
  EpsilonAnswer sound;         // what the executed events really cost (same batch folded)
};
Result<ProbeSplit> split_budget(const ProbeSplitRequest& request);
// The events a run with that split executes; always the sound (folded or separate) description.
Events probe_events(const ProbeSplitRequest& request, double sigma_g, double sigma_l);

std::string to_string(ProbeAccounting mode);
Result<ProbeAccounting> probe_accounting_from(const std::string& name);

// mu-GDP <-> (epsilon, delta), exact for the Gaussian.
double gdp_delta(double mu, double epsilon);
Result<double> gdp_epsilon(double mu, double delta);
Result<double> gdp_mu(double epsilon, double delta);

}  // namespace hyfreedp::accounting
