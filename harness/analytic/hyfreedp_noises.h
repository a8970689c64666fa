// The noises of HyFreeDP's gradients and losses as the paper composes them, by either of its
// accountants and with either noise on the losses (Liu & Bu 2025, Algorithm 2, equation 9, figures
// 3 and 6).
//
//   sigma_g   gamma sigma, where T subsampled gradients alone at sigma cost (epsilon, delta)
//   sigma_l   such that T gradients with sigma_g and ceil(T/K) m losses with sigma_l together cost
//             (epsilon, delta), if each of them had a sample of its own
//   even      the common sigma if both have the same: the paper's dashed line
//
// RDP is this project's accountant. GDP is the central limit theorem: mu^2 = (B/N)^2 times the sum
// of chi^2 over all releases, with chi^2 = E_Q[(P/Q)^2] - 1, which is e^{1/sigma^2} - 1 for the
// Gaussian (equation 9) and 2/3 e^{1/b} + 1/3 e^{-2/b} - 1 for Laplace noise of scale b; it is an
// approximation and not a bound. Both understate the cost, because the losses share the gradient's
// sample.
#pragma once

#include <algorithm>
#include <string>

#include "harness/accounting/accountant.h"
#include "harness/accounting/default_delta.h"
#include "harness/base/describe.h"

namespace hyfreedp::analytic {

// The options that the items share, with the paper's defaults and those that the paper does not
// state.
struct NoiseSetting {
  std::int64_t records = 50000, batch = 1000;
  std::int64_t steps = 250, interval = 5;
  int points = 3;
  double gamma = 1.01;
  std::optional<double> given_delta;
  double epsilon = 3;
  static constexpr std::array kNames = {description::Name{"given_delta", "delta"}};

  double sample_rate() const { return std::min(1.0, double(batch) / double(records)); }
  double delta() const { return given_delta.value_or(accounting::default_delta(records)); }
};
BOOST_DESCRIBE_STRUCT(NoiseSetting, (),
                      (records, batch, steps, interval, points, gamma, given_delta, epsilon))

// `help_of_epsilon`: empty where an item does not read it.
std::vector<OptionSpec> noise_options(const std::string& help_of_epsilon = {});

struct PaperNoises {
  double sigma_g = 0;
  double sigma_l = 0;
  double even = 0;
};

Result<PaperNoises> paper_noises(const NoiseSetting& setting, const std::string& accountant,
                                 accounting::Noise losses);

// The square of (B/N) sqrt(count chi^2), for `count` releases.
double clt_mu_squared(double sample_rate, double count, accounting::Noise noise, double scale);

// "q = 0.02, T = 250, ..." for the description, and footnotes on what the paper does not state.
std::string describe(const NoiseSetting& setting);
std::vector<std::string> assumed_notes(const NoiseSetting& setting);

}  // namespace hyfreedp::analytic
