#include "harness/mechanism/probe_split.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "harness/accounting/calibration_search.h"
#include "harness/base/text.h"
#include "harness/mechanism/releases.h"

namespace hyfreedp::mechanism {
namespace {

using accounting::Calibration;
using accounting::Event;
using accounting::Events;
using accounting::EventsOfNoise;

constexpr std::pair<ProbeAccounting, const char*> kModes[] = {
    {ProbeAccounting::folded, "folded"},
    {ProbeAccounting::separate_batch, "separate-batch"},
    {ProbeAccounting::paper, "paper"},
    {ProbeAccounting::paper_appendix, "paper-appendix"},
};

Result<void> check(const ProbeSplitRequest& request) {
  const auto& plan = request.plan;
  HYFREEDP_CHECK(plan.is_private && plan.probe, "a budget is split between gradients and probes");
  if (!(plan.sample_rate > 0 && plan.sample_rate <= 1)) {
    return error(fmt::format("The sampling rate is {}; it must lie in (0, 1].", plan.sample_rate));
  }
  if (!(plan.probe->sample_rate >= 0 && plan.probe->sample_rate <= 1)) {
    return error(
        fmt::format("The probe sampling rate is {}; it must lie in (0, 1], or be 0 for that of the gradient.",
                    plan.probe->sample_rate));
  }
  if (request.steps < 1)
    return error(fmt::format("The number of steps is {}; it must be at least 1.", request.steps));
  if (plan.probe->interval < 1) {
    return error(fmt::format("The probe interval is {}; it must be at least 1 step.", plan.probe->interval));
  }
  if (plan.probe->points < 1) {
    return error(fmt::format("A probe has {} losses; it must have at least 1.", plan.probe->points));
  }
  for (const auto& release : releases(plan)) {
    if (is_followed(release.purpose) || release.purpose == kProbe || release.noise_multiplier > 0) continue;
    return error(fmt::format("The noise of '{}' is {}; it must be positive.", release.purpose,
                             release.noise_multiplier));
  }
  if (is_published(request.mode) && request.accountant == "pld") {
    return error(fmt::format("The noise of '{}' is set by RDP, as it was published; PLD cannot set it.",
                             to_string(request.mode)));
  }
  if (!(request.gamma > 1) || !std::isfinite(request.gamma)) {
    return error(
        fmt::format("gamma is {}; it must be greater than 1, or the gradients leave nothing for the probes.",
                    request.gamma));
  }
  return {};
}

// Everything but the probes.
Events gradient_events(const ProbeSplitRequest& request, double sigma) {
  auto plan = request.plan;
  plan.gradient_noise = sigma;
  plan.probe.reset();
  return {.events = events(plan, 0, request.steps)};
}

// The losses as published: each on a batch of its own, sampled like the gradient's.
Event probes_alone(const ProbeSplitRequest& request, double sigma_l) {
  auto plan = request.plan;
  plan.probe->noise = sigma_l;
  const auto losses = find(releases(plan), kProbe)->priced();
  const auto probes = (request.steps + plan.probe->interval - 1) / plan.probe->interval;
  auto one = losses;
  one.count = 1;
  return accounting::batch(plan.sample_rate, {one}, probes * losses.count);
}

// The noise of the losses that completes sigma_g, as each mode has it.
Result<Calibration> loss_noise(const ProbeSplitRequest& request, double sigma_g,
                               const std::string& accountant, const std::vector<double>& orders,
                               double tolerance) {
  const auto price = [&](const Events& events) {
    return accounting::epsilon_by(accountant, events, request.delta, orders);
  };
  if (request.mode == ProbeAccounting::paper_appendix) {
    const auto gradients = price(gradient_events(request, sigma_g));
    if (!gradients) return gradients.error();
    auto found = accounting::search_noise(
        [&](double noise) {
          return price({accounting::Neighbouring::add_remove, {probes_alone(request, noise)}});
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
      accountant == "pld" ? accounting::noise_hint(events_at, request.epsilon, request.delta) : std::nullopt;
  return accounting::search_noise([&](double noise) { return price(events_at(noise)); }, request.epsilon,
                                  tolerance, hint);
}

}  // namespace

Events probe_events(const ProbeSplitRequest& request, double sigma_g, double sigma_l) {
  auto plan = request.plan;
  plan.gradient_noise = sigma_g;
  plan.probe->noise = sigma_l;
  plan.probe->separate_batch = request.mode == ProbeAccounting::separate_batch;
  if (plan.probe->sample_rate == 0) plan.probe->sample_rate = plan.sample_rate;
  return {.events = events(plan, 0, request.steps)};
}

trial::PrivacyPlan probing_plan(double sample_rate, std::int64_t interval, int points,
                                double probe_sample_rate) {
  trial::PrivacyPlan plan;
  plan.sample_rate = sample_rate;
  plan.probe = trial::ProbePlan{.sample_rate = probe_sample_rate, .points = points, .interval = interval};
  return plan;
}

bool is_published(ProbeAccounting mode) {
  return mode == ProbeAccounting::paper || mode == ProbeAccounting::paper_appendix;
}

Result<ProbeSplit> split_budget(const ProbeSplitRequest& request) {
  if (auto ok = check(request); !ok) return ok.error();
  const std::string accountant = !request.accountant.empty()  ? request.accountant
                                 : is_published(request.mode) ? "rdp"
                                                              : "pld";
  const auto tolerance = accounting::calibration_tolerance(accountant);
  if (!tolerance) return tolerance.error();
  const auto& orders = request.orders.empty() ? accounting::default_orders() : request.orders;
  const EventsOfNoise gradients_at = [&](double noise) { return gradient_events(request, noise); };
  const auto hint = accountant == "pld" ? accounting::noise_hint(gradients_at, request.epsilon, request.delta)
                                        : std::nullopt;
  const auto alone = accounting::search_noise(
      [&](double noise) {
        return accounting::epsilon_by(accountant, gradients_at(noise), request.delta, orders);
      },
      request.epsilon, *tolerance, hint);
  if (!alone) return in_context("Noise of the gradients", alone.error());
  ProbeSplit split;
  split.sigma = alone->noise_multiplier;
  split.sigma_g = request.gamma * split.sigma;
  const auto losses = loss_noise(request, split.sigma_g, accountant, orders, *tolerance);
  if (!losses) return in_context("Noise of the losses", losses.error());
  split.sigma_l = losses->noise_multiplier;
  split.claimed_epsilon = losses->answer.epsilon;
  const auto sound =
      accounting::epsilon_pld(probe_events(request, split.sigma_g, split.sigma_l), request.delta);
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

}  // namespace hyfreedp::mechanism
