#include "harness/analytic/hyfreedp_noises.h"

#include <cmath>
#include <fmt/format.h>
#include <functional>

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
          {accounting::poisson_gaussian(setting.sample_rate, sigma_g, setting.steps),
           accounting::batch(setting.sample_rate, {{sigma_l, 1, noise, "probe"}},
                             static_cast<std::int64_t>(loss_count(setting)))}};
}

Result<PaperNoises> by_rdp(const NoiseSetting& setting, Noise noise) {
  const auto alone = accounting::calibrate_gaussian(setting.sample_rate, setting.steps, setting.epsilon,
                                                    setting.delta, "rdp");
  if (!alone) return alone.error();
  PaperNoises noises;
  noises.sigma_g = setting.gamma * alone->noise_multiplier;
  const auto losses =
      accounting::calibrate([&](double scale) { return composed(setting, noises.sigma_g, noise, scale); },
                            setting.epsilon, setting.delta, "rdp");
  if (!losses) return losses.error();
  noises.sigma_l = losses->noise_multiplier;
  const auto even =
      accounting::calibrate([&](double scale) { return composed(setting, scale, noise, scale); },
                            setting.epsilon, setting.delta, "rdp");
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
  const auto mu = accounting::gdp_mu(setting.epsilon, setting.delta);
  if (!mu) return mu.error();
  const double q = setting.sample_rate;
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

std::vector<OptionSpec> noise_options() {
  const auto count = [](const char* name, json::value default_value, const char* help) {
    OptionSpec option{name, OptionType::integer, std::move(default_value), help};
    option.min = 1;
    return option;
  };
  return {
      count("records", 50000, "N (CIFAR's size; the paper's figures do not state it)"),
      count("batch", 1000, "B (assumed: not stated)"),
      count("steps", 250, "T (assumed: not stated)"),
      count("interval", 5, "K (the text's default)"),
      count("points", 3, "losses a probe (Algorithm 1)"),
      {"gamma", OptionType::real, 1.01, "sigma_g / sigma (the text's default)", "", 1.0001, 10},
      {"delta", OptionType::real, nullptr, "absent: N^-1.1, as in the paper's experiments", "", 1e-300, 0.5}};
}

NoiseSetting setting_of(const json::object& options) {
  NoiseSetting setting;
  const auto records = static_cast<double>(int_or(options, "records", 50000));
  setting.sample_rate = std::min(1.0, static_cast<double>(int_or(options, "batch", 1000)) / records);
  setting.steps = int_or(options, "steps", 250);
  setting.interval = int_or(options, "interval", 5);
  setting.points = static_cast<int>(int_or(options, "points", 3));
  setting.gamma = double_or(options, "gamma", 1.01);
  const auto* delta = options.if_contains("delta");
  setting.delta = delta && delta->is_number() ? delta->to_number<double>() : std::pow(records, -1.1);
  return setting;
}

std::string describe(const NoiseSetting& setting) {
  return fmt::format("q = B/N = {:.4g}, T = {}, K = {}, {} losses a probe, gamma = {}, delta = {:.3g}",
                     setting.sample_rate, setting.steps, setting.interval, setting.points, setting.gamma,
                     setting.delta);
}

std::vector<std::string> assumed_notes(const NoiseSetting& setting) {
  return {
      fmt::format("Assumed: B/N = {:.4g} and T = {}; the paper does not state the setting of its figures.",
                  setting.sample_rate, setting.steps)};
}

}  // namespace hyfreedp::analytic
