#include "harness/cli/epsilon/epsilon_boxes.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "harness/accounting/mechanism.h"
#include "harness/base/text.h"
#include "harness/cli/epsilon/print_epsilon.h"

namespace hyfreedp::cli {
namespace {

using accounting::Event;
using accounting::Events;

constexpr int kStepPoints = 32;
constexpr int kNoisePoints = 16;
constexpr int kRepetitions = 10;
constexpr std::size_t kManyMechanisms = 50;  // beyond them a point takes long, and fewer are drawn
constexpr int kFewPoints = 4;

// Whole multiples of `interval` up to the last, then `last`; denser where epsilon bends.
std::vector<double> steps_to(std::int64_t last, std::int64_t interval = 1) {
  std::vector<double> steps;
  for (int i = 0; i <= kStepPoints; ++i) {
    const double part = static_cast<double>(i) / kStepPoints;
    const auto whole = static_cast<double>(interval);
    const double step = std::min(std::ceil((1 + static_cast<double>(last - 1) * part * part) / whole) * whole,
                                 static_cast<double>(last));
    if (steps.empty() || step > steps.back()) steps.push_back(step);
  }
  return steps;
}

// `points` even: `noise` itself is among them.
std::vector<double> around(double noise, int points) {
  std::vector<double> noises;
  for (int i = 0; i <= points; ++i) noises.push_back(noise * std::exp2(2.0 * i / points - 1));
  return noises;
}

std::string steps_text(std::int64_t steps) {
  return fmt::format("{} {}", steps, steps == 1 ? "step" : "steps");
}

std::vector<Event> scaled(const std::vector<Event>& events, double factor) {
  auto all = events;
  for (auto& event : all) {
    if (auto* batch = std::get_if<accounting::Batch>(&event.what)) {
      for (auto& release : batch->releases) release.noise_multiplier *= factor;
    } else if (auto* repeat = std::get_if<accounting::Repeat>(&event.what)) {
      repeat->base = scaled(repeat->base, factor);
    } else if (auto* selection = std::get_if<accounting::Selection>(&event.what)) {
      selection->base = scaled(selection->base, factor);
    }
  }
  return all;
}

bool is_many(const Events& events) {
  const auto contents = accounting::split_contents(events);
  std::size_t number = 0;
  if (contents) {
    for (const auto& content : *contents) number += content.mechanisms.size() + content.selections.size();
  }
  return number > kManyMechanisms;
}

std::vector<MarkedPoint> at(double x, std::vector<MarkedPoint> marks) {
  for (auto& mark : marks) mark.x = x;
  return marks;
}

}  // namespace

std::vector<EpsilonBox> gaussian_boxes(double sample_rate, double noise_multiplier, std::int64_t steps,
                                       accounting::Neighbouring neighbouring, MarkedPoint mark) {
  const auto events = [=](double noise, double count) {
    return Events{neighbouring,
                  {accounting::poisson_gaussian(sample_rate, noise, static_cast<std::int64_t>(count))}};
  };
  const auto last = static_cast<double>(steps);
  EpsilonBox over_steps{.title = "σ = " + short_number(noise_multiplier),
                        .x_label = "steps",
                        .xs = steps_to(steps),
                        .events_at = [=](double x) { return events(noise_multiplier, x); },
                        .marks = at(last, {mark})};
  EpsilonBox over_noise{.title = steps_text(steps),
                        .x_label = "noise multiplier σ (noise / sensitivity)",
                        .xs = around(noise_multiplier, kNoisePoints),
                        .events_at = [=](double x) { return events(x, last); },
                        .logarithmic_epsilon = true,
                        .marks = at(noise_multiplier, {mark})};
  return {std::move(over_steps), std::move(over_noise)};
}

std::string gaussian_title(double sample_rate, double delta, accounting::Neighbouring neighbouring) {
  return fmt::format("Poisson-sampled Gaussian, q = {}, δ = {}, {} neighbours", short_number(sample_rate),
                     short_number(delta), to_string(neighbouring));
}

std::vector<EpsilonBox> events_boxes(const Events& events, MarkedPoint mark) {
  const bool many = is_many(events);
  EpsilonBox repeated{.title = "noise as in the file",
                      .x_label = "how often all events of the file happen",
                      .xs = {},
                      .events_at =
                          [events](double x) {
                            return Events{
                                events.neighbouring,
                                {{accounting::Repeat{events.events, static_cast<std::int64_t>(x)}, {}}}};
                          },
                      .marks = at(1, {mark})};
  for (int i = 1; i <= (many ? kFewPoints : kRepetitions); ++i) repeated.xs.push_back(i);
  EpsilonBox noisier{.title = "all events of the file once",
                     .x_label = "noise of every release, relative to the file's",
                     .xs = around(1, many ? kFewPoints : kNoisePoints),
                     .events_at =
                         [events](double x) {
                           return Events{events.neighbouring, scaled(events.events, x)};
                         },
                     .logarithmic_epsilon = true,
                     .marks = at(1, {mark})};
  return {std::move(repeated), std::move(noisier)};
}

std::vector<EpsilonBox> split_boxes(const mechanism::ProbeSplitRequest& request,
                                    const mechanism::ProbeSplit& split, std::vector<MarkedPoint> marks) {
  const auto of_gradients = "σ_g = " + short_number(split.sigma_g);
  EpsilonBox over_steps{.title = of_gradients + ", σ_l = " + short_number(split.sigma_l),
                        .x_label = "steps",
                        // The curve has stairs between probes, which its points would hit or miss
                        // at random.
                        .xs = steps_to(request.steps, request.plan.probe->interval),
                        .events_at =
                            [request, split](double x) {
                              auto shorter = request;
                              shorter.steps = static_cast<std::int64_t>(x);
                              return mechanism::probe_events(shorter, split.sigma_g, split.sigma_l);
                            },
                        .marks = at(static_cast<double>(request.steps), marks)};
  EpsilonBox over_noise{
      .title = of_gradients + ", " + steps_text(request.steps),
      .x_label = "noise multiplier of the losses, σ_l",
      .xs = around(split.sigma_l, kNoisePoints),
      .events_at = [request, split](double x) { return mechanism::probe_events(request, split.sigma_g, x); },
      .logarithmic_epsilon = true,
      .marks = at(split.sigma_l, marks)};
  return {std::move(over_steps), std::move(over_noise)};
}

}  // namespace hyfreedp::cli
