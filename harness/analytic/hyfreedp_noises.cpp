#include "harness/analytic/hyfreedp_noises.h"

#include <cmath>
#include <fmt/format.h>
#include <functional>

#include "harness/base/option_lines.h"

namespace hyfreedp::analytic {
namespace {

using accounting::Events;
using accounting::Noise;

double loss_count(const NoiseSetting& setting) {
  const auto probes = (setting.steps + setting.interval - 1) / setting.interval;
  return static_cast<double>(probes * setting.points);
}

// Every release with a sample of its own: what Algorithm 2 composes, not what is done.
Events composed(const NoiseSetting& setting, double sigma_g, Noise noise, double sigma_l) {
  return {accounting::Neighbouring::add_remove,
          {accounting::poisson_gaussian(setting.sample_rate(), sigma_g, setting.steps),
           accounting::batch(setting.sample_rate(), {{sigma_l, 1, noise, "probe"}},
                             static_cast<std::int64_t>(loss_count(setting)))}};
}

Result<PaperNoises> by_rdp(const NoiseSetting& setting, Noise noise) {
  const auto alone = accounting::calibrate_gaussian(setting.sample_rate(), setting.steps, setting.epsilon,
                                                    setting.delta(), "rdp");
  if (!alone) return alone.error();
  PaperNoises noises;
  noises.sigma_g = setting.gamma * alone->noise_multiplier;
  const auto losses =
      accounting::calibrate([&](double scale) { return composed(setting, noises.sigma_g, noise, scale); },
                            setting.epsilon, setting.delta(), "rdp");
  if (!losses) return losses.error();
  noises.sigma_l = losses->noise_multiplier;
  const auto even =
      accounting::calibrate([&](double scale) { return composed(setting, scale, noise, scale); },
                            setting.epsilon, setting.delta(), "rdp");
  if (!even) return even.error();
  noises.even = even->noise_multiplier;
  return noises;
}

// The scale at which a falling function reaches `target`, by bisection of its logarithm.
double scale_at(const std::function<double(double)>& falling, double target) {
  double low = std::log(0.02);
  double high = std::log(1e6);
  while (high - low > 1e-12) {
    const double middle = (low + high) / 2;
    (falling(std::exp(middle)) > target ? low : high) = middle;
  }
  return std::exp(high);
}

Result<PaperNoises> by_gdp(const NoiseSetting& setting, Noise noise) {
  const auto mu = accounting::gdp_mu(setting.epsilon, setting.delta());
  if (!mu) return mu.error();
  const double q = setting.sample_rate();
  const auto steps = static_cast<double>(setting.steps);
  const double target = *mu * *mu;
  const auto gradients = [&](double scale) { return clt_mu_squared(q, steps, Noise::gaussian, scale); };
  const auto losses = [&](double scale) { return clt_mu_squared(q, loss_count(setting), noise, scale); };
  PaperNoises noises;
  noises.sigma_g = setting.gamma * scale_at(gradients, target);
  noises.sigma_l = scale_at(losses, target - gradients(noises.sigma_g));
  noises.even = scale_at([&](double scale) { return gradients(scale) + losses(scale); }, target);
  return noises;
}

}  // namespace

double clt_mu_squared(double sample_rate, double count, Noise noise, double scale) {
  const double chi = noise == Noise::gaussian
                         ? std::expm1(1 / (scale * scale))
                         : 2.0 / 3 * std::expm1(1 / scale) + 1.0 / 3 * std::expm1(-2 / scale);
  return sample_rate * sample_rate * count * chi;
}

Result<PaperNoises> paper_noises(const NoiseSetting& setting, const std::string& accountant, Noise losses) {
  return accountant == "gdp" ? by_gdp(setting, losses) : by_rdp(setting, losses);
}

std::vector<OptionSpec> noise_options(const std::string& help_of_epsilon) {
  std::vector<OptionSpec> table = {
      {.name = "records", .help = "N (CIFAR's size; the paper's figures do not state it)", .min = 1},
      {.name = "batch", .help = "B (assumed: not stated)", .min = 1},
      {.name = "steps", .help = "T (assumed: not stated)", .min = 1},
      {.name = "interval", .help = "K (the text's default)", .min = 1},
      {.name = "points", .help = "losses a probe (Algorithm 1)", .min = 1},
      ranged_option("gamma", 1.0001, 10, "sigma_g / sigma (the text's default)"),
      ranged_option("delta", 1e-300, 0.5, "absent: N^-1.1, as in the paper's experiments")};
  if (!help_of_epsilon.empty()) table.push_back(ranged_option("epsilon", 0.01, 100, help_of_epsilon));
  return options_of<NoiseSetting>(std::move(table));
}

std::string describe(const NoiseSetting& setting) {
  return fmt::format("q = B/N = {:.4g}, T = {}, K = {}, {} losses a probe, gamma = {}, delta = {:.3g}",
                     setting.sample_rate(), setting.steps, setting.interval, setting.points, setting.gamma,
                     setting.delta());
}

std::vector<std::string> assumed_notes(const NoiseSetting& setting) {
  return {
      fmt::format("Assumed: B/N = {:.4g} and T = {}; the paper does not state the setting of its figures.",
                  setting.sample_rate(), setting.steps)};
}

}  // namespace hyfreedp::analytic
