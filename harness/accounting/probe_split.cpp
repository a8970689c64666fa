// HyFreeDP's split of one budget between gradients and loss probes. See ProbeSplitRequest and this
// room's README.
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "harness/accounting/accountant.h"
#include "harness/accounting/calibration_search.h"
#include "harness/base/text.h"

namespace hyfreedp::accounting {
namespace {

constexpr std::pair<ProbeAccounting, const char*> kModes[] = {
    {ProbeAccounting::folded, "folded"},
    {ProbeAccounting::separate_batch, "separate-batch"},
    {ProbeAccounting::paper, "paper"},
    {ProbeAccounting::paper_appendix, "paper-appendix"},
};

std::int64_t probe_count(const ProbeSplitRequest& request) {
  return (request.steps + request.interval - 1) / request.interval;
}

bool is_paper(const ProbeSplitRequest& request) {
  return request.mode == ProbeAccounting::paper || request.mode == ProbeAccounting::paper_appendix;
}

Result<void> check(const ProbeSplitRequest& request) {
  if (!(request.sample_rate > 0 && request.sample_rate <= 1)) {
    return error(fmt::format("The sampling rate is {}; it must lie in (0, 1].", request.sample_rate));
  }
  if (!(request.probe_sample_rate >= 0 && request.probe_sample_rate <= 1)) {
    return error(
        fmt::format("The probe sampling rate is {}; it must lie in (0, 1], or be 0 for that of the gradient.",
                    request.probe_sample_rate));
  }
  if (request.steps < 1)
    return error(fmt::format("The number of steps is {}; it must be at least 1.", request.steps));
  if (request.interval < 1) {
    return error(fmt::format("The probe interval is {}; it must be at least 1 step.", request.interval));
  }
  if (request.points < 1) {
    return error(fmt::format("A probe has {} losses; it must have at least 1.", request.points));
  }
  if (!(request.count_noise >= 0) || !std::isfinite(request.count_noise)) {
    return error(fmt::format("The noise of the clip counts is {}; it must be positive, or 0 for no counts.",
                             request.count_noise));
  }
  if (!(request.mean_noise >= 0) || !std::isfinite(request.mean_noise)) {
    return error(fmt::format("The noise of the feature mean is {}; it must be positive, or 0 for no mean.",
                             request.mean_noise));
  }
  if (!(request.gamma > 1) || !std::isfinite(request.gamma)) {
    return error(
        fmt::format("gamma is {}; it must be greater than 1, or the gradients leave nothing for the probes.",
                    request.gamma));
  }
  return {};
}

// What every gradient batch releases.
std::vector<Release> on_gradient(const ProbeSplitRequest& request, double sigma) {
  std::vector<Release> releases{{sigma, 1, Noise::gaussian, "gradient"}};
  if (request.count_noise > 0) releases.push_back({request.count_noise, 1, Noise::gaussian, "clip-count"});
  return releases;
}

// What is released once, before step 0.
Events begun(const ProbeSplitRequest& request) {
  Events events;
  if (request.mean_noise > 0) {
    events.events.push_back(batch(1, {{request.mean_noise, 1, Noise::gaussian, kFeatureMeanPurpose}}, 1));
  }
  return events;
}

Events gradient_events(const ProbeSplitRequest& request, double sigma) {
  auto events = begun(request);
  events.events.push_back(batch(request.sample_rate, on_gradient(request, sigma), request.steps));
  return events;
}

Event probes_alone(const ProbeSplitRequest& request, double sigma_l) {
  return poisson_gaussian(request.sample_rate, sigma_l, probe_count(request) * request.points);
}

// The noise of the losses that completes sigma_g, as each mode has it.
Result<Calibration> loss_noise(const ProbeSplitRequest& request, double sigma_g,
                               const std::string& accountant, const std::vector<double>& orders,
                               double tolerance) {
  const auto price = [&](const Events& events) {
    return epsilon_by(accountant, events, request.delta, orders);
  };
  if (request.mode == ProbeAccounting::paper_appendix) {
    const auto gradients = price(gradient_events(request, sigma_g));
    if (!gradients) return gradients.error();
    auto found = search_noise(
        [&](double noise) {
          return price({Neighbouring::add_remove, {probes_alone(request, noise)}});
        },
        request.epsilon - gradients->epsilon, tolerance);
    if (found) found->answer.epsilon += gradients->epsilon;
    return found;
  }
  const EventsOfNoise events_at = [&](double noise) {
    if (request.mode != ProbeAccounting::paper) return probe_events(request, sigma_g, noise);
    Events events = gradient_events(request, sigma_g);
    events.events.push_back(probes_alone(request, noise));
    return events;
  };
  const auto hint =
      accountant == "pld" ? noise_hint(events_at, request.epsilon, request.delta) : std::nullopt;
  return search_noise([&](double noise) { return price(events_at(noise)); }, request.epsilon, tolerance,
                      hint);
}

}  // namespace

Events probe_events(const ProbeSplitRequest& request, double sigma_g, double sigma_l) {
  const std::int64_t probes = probe_count(request);
  auto releases = on_gradient(request, sigma_g);
  const Release losses{sigma_l, request.points, Noise::gaussian, "probe"};
  Events events = begun(request);
  if (request.mode == ProbeAccounting::separate_batch) {
    const double rate = request.probe_sample_rate > 0 ? request.probe_sample_rate : request.sample_rate;
    events.events.push_back(batch(request.sample_rate, releases, request.steps));
    events.events.push_back(batch(rate, {losses}, probes));
    return events;
  }
  const auto alone = releases;
  releases.push_back(losses);
  events.events.push_back(batch(request.sample_rate, releases, probes));
  if (request.steps > probes) {
    events.events.push_back(batch(request.sample_rate, alone, request.steps - probes));
  }
  return events;
}

Result<ProbeSplit> split_budget(const ProbeSplitRequest& request) {
  if (auto ok = check(request); !ok) return ok.error();
  const std::string accountant = is_paper(request) ? "rdp" : request.accountant;
  const auto tolerance = calibration_tolerance(accountant);
  if (!tolerance) return tolerance.error();
  const auto& orders = request.orders.empty() ? default_orders() : request.orders;
  const EventsOfNoise gradients_at = [&](double noise) { return gradient_events(request, noise); };
  const auto hint =
      accountant == "pld" ? noise_hint(gradients_at, request.epsilon, request.delta) : std::nullopt;
  const auto alone = search_noise(
      [&](double noise) { return epsilon_by(accountant, gradients_at(noise), request.delta, orders); },
      request.epsilon, *tolerance, hint);
  if (!alone) return in_context("Noise of the gradients", alone.error());
  ProbeSplit split;
  split.sigma = alone->noise_multiplier;
  split.sigma_g = request.gamma * split.sigma;
  const auto losses = loss_noise(request, split.sigma_g, accountant, orders, *tolerance);
  if (!losses) return in_context("Noise of the losses", losses.error());
  split.sigma_l = losses->noise_multiplier;
  split.claimed_epsilon = losses->answer.epsilon;
  const auto sound = epsilon_pld(probe_events(request, split.sigma_g, split.sigma_l), request.delta);
  if (!sound) return sound.error();
  split.sound = *sound;
  return split;
}

std::string to_string(ProbeAccounting mode) {
  for (const auto& [value, name] : kModes) {
    if (value == mode) return name;
  }
  return "unknown";
}

Result<ProbeAccounting> probe_accounting_from(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [value, known] : kModes) {
    if (name == known) return value;
    names.emplace_back(known);
  }
  return error(fmt::format("Unknown probe accounting '{}'; valid ones are {}.{}", name, join(names, ", "),
                           did_you_mean(name, names)));
}

}  // namespace hyfreedp::accounting
