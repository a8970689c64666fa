// Observations of simulated training: honest ones, and ones with each planted bug that shows in
// observations.
//
// The mechanism is simulated, not a model: raw sums are drawn, the bug is built in, and residuals,
// scores and counts are computed as the collector does. Every draw comes from a keyed stream, so a
// seed names an experiment.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/accounting/accountant.h"
#include "harness/audit/findings.h"
#include "harness/random/draws.h"

namespace hyfreedp::audit {

enum class Bug {
  none,
  small_noise,         // 2/3 of the claimed scale
  large_noise,         // 3/2 of it
  unclipped_layer,     // the last tenth of the coordinates is ten times too long
  realised_divisor,    // divided by the realised batch size
  reused_noise,        // step 7 repeats the noise of step 3, in every run
  skipped_empty,       // empty batches are left out
  same_seed,           // runs 0 and 1 draw the same noise, run 1 a step later
  unclamped_losses,    // one loss in twenty is far above the bound
  fixed_size_batches,  // drawn without replacement
  small_loss_noise,
  large_loss_noise,
  shared_stream,       // two tensors (halves of the vector) draw the same noise
  loss_from_gradient,  // the losses' noise is the gradient's first elements
};

struct Setting {
  std::int64_t runs = 4;
  std::int64_t steps = 50;
  std::int64_t interval = 5;
  std::size_t dimension = 200;
  std::size_t points = 3;
  std::int64_t population = 400;
  double sample_rate = 0.02;
  double sigma_g = 0.9;
  double sigma_l = 2.0;
  std::int64_t canaries = 20;  // in and out scores a step; 0: none
  Bug bug = Bug::none;
  std::string seed = "0";

  bool probes_at(std::int64_t step) const { return step % interval == 0; }
  double batch_size() const { return sample_rate * static_cast<double>(population); }
  double noise_scale() const {
    return bug == Bug::small_noise ? 2.0 / 3 : bug == Bug::large_noise ? 3.0 / 2 : 1.0;
  }
};

inline std::vector<accounting::Event> simulated_events(const Setting& setting) {
  const std::int64_t probes = (setting.steps + setting.interval - 1) / setting.interval;
  const accounting::Release gradient{setting.sigma_g, 1, accounting::Noise::gaussian, "gradient"};
  const accounting::Release losses{setting.sigma_l, static_cast<std::int64_t>(setting.points),
                                   accounting::Noise::gaussian, "probe"};
  std::vector<accounting::Event> events = {
      accounting::batch(setting.sample_rate, {gradient, losses}, probes)};
  if (setting.steps > probes) {
    events.push_back(accounting::batch(setting.sample_rate, {gradient}, setting.steps - probes));
  }
  return events;
}

class SimulatedTraining {
 public:
  explicit SimulatedTraining(Setting setting)
      : setting_(std::move(setting)), key_(random::key_from_seed("simulated training " + setting_.seed)) {}

  Observations observe() {
    Observations seen;
    sample_batches(seen);
    for (std::int64_t run = 0; run < setting_.runs; ++run) {
      for (std::int64_t step = 0; step < setting_.steps; ++step) {
        if (!skipped(run, step)) seen.residuals.push_back(residuals(run, step));
      }
      seen.runs.push_back(releases(run));
    }
    if (setting_.canaries > 0) add_canaries(seen);
    return seen;
  }

 private:
  random::Address address(std::int64_t run, std::int64_t step, random::Purpose purpose) const {
    return {.step = static_cast<std::uint32_t>(step),
            .tensor = static_cast<std::uint16_t>(run),
            .purpose = purpose,
            .lane = 0,
            .attempt = 0};
  }

  std::vector<std::int64_t> drawn_batch(std::int64_t run, std::int64_t step) const {
    const auto at = address(run, step, random::Purpose::sampling);
    if (setting_.bug != Bug::fixed_size_batches) {
      return random::poisson_sample(key_, at, setting_.population, setting_.sample_rate);
    }
    auto all = random::permutation(key_, at, setting_.population);
    all.resize(static_cast<std::size_t>(setting_.batch_size()));
    std::sort(all.begin(), all.end());
    return all;
  }

  void sample_batches(Observations& seen) {
    SamplerCounts counts;
    counts.batch = "gradient";
    counts.population = setting_.population;
    counts.sample_rate = setting_.sample_rate;
    counts.inclusions.resize(static_cast<std::size_t>(setting_.population));
    counts.pair_together.resize(static_cast<std::size_t>(setting_.population) - 1);
    for (std::int64_t run = 0; run < setting_.runs; ++run) {
      for (std::int64_t step = 0; step < setting_.steps; ++step) {
        const auto members = drawn_batch(run, step);
        sizes_.push_back(static_cast<std::int64_t>(members.size()));
        if (skipped(run, step)) continue;
        counts.sizes.push_back(sizes_.back());
        for (std::size_t i = 0; i < members.size(); ++i) {
          ++counts.inclusions[static_cast<std::size_t>(members[i])];
          const bool pair = i + 1 < members.size() && members[i + 1] == members[i] + 1;
          if (pair) ++counts.pair_together[static_cast<std::size_t>(members[i])];
        }
      }
    }
    seen.samplers.push_back(std::move(counts));
  }

  std::int64_t size(std::int64_t run, std::int64_t step) const {
    return sizes_[static_cast<std::size_t>(run * setting_.steps + step)];
  }
  bool skipped(std::int64_t run, std::int64_t step) const {
    return setting_.bug == Bug::skipped_empty && size(run, step) == 0;
  }

  std::vector<double> noise(std::int64_t run, std::int64_t step) const {
    if (setting_.bug == Bug::reused_noise && step == 7) step = 3;
    if (setting_.bug == Bug::same_seed && run == 1) {
      run = 0;
      step += 1;
    }
    std::vector<double> values(setting_.dimension);
    random::fill_normals(key_, address(run, step, random::Purpose::gradient_noise), 0, values);
    if (setting_.bug == Bug::shared_stream) {
      std::copy_n(values.begin(), values.size() / 2,
                  values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    }
    return values;
  }

  // What the optimizer was handed, against the clipped sum (the batch's size times 0.3, along the
  // diagonal).
  StepResiduals residuals(std::int64_t run, std::int64_t step) const {
    StepResiduals one{.run = run, .step = step, .batch_size = size(run, step), .gradient = {}, .losses = {}};
    const auto added = noise(run, step);
    const auto members = static_cast<double>(one.batch_size);
    const double each = 0.3 * members / std::sqrt(static_cast<double>(setting_.dimension));
    const double divisor =
        setting_.bug == Bug::realised_divisor ? std::max(1.0, members) : setting_.batch_size();
    double along = 0;
    for (std::size_t j = 0; j < added.size(); ++j) {
      const bool unclipped =
          setting_.bug == Bug::unclipped_layer && j >= setting_.dimension - setting_.dimension / 10;
      const double sum = unclipped ? 10 * each : each;
      const double released = (sum + setting_.noise_scale() * setting_.sigma_g * added[j]) / divisor;
      const double residual = (released * setting_.batch_size() - each) / setting_.sigma_g;
      one.gradient.push_back(static_cast<float>(residual));
      along += residual;
    }
    one.along_sum = one.batch_size > 0 ? along / std::sqrt(static_cast<double>(setting_.dimension))
                                       : std::numeric_limits<double>::quiet_NaN();
    if (setting_.probes_at(step)) one.losses = loss_residuals(run, step, one);
    return one;
  }

  std::vector<double> loss_residuals(std::int64_t run, std::int64_t step, const StepResiduals& one) const {
    std::vector<double> losses(setting_.points);
    random::fill_normals(key_, address(run, step, random::Purpose::probe_noise), 0, losses);
    for (std::size_t k = 0; k < losses.size(); ++k) {
      if (setting_.bug == Bug::small_loss_noise) losses[k] *= 2.0 / 3;
      if (setting_.bug == Bug::large_loss_noise) losses[k] *= 3.0 / 2;
      if (setting_.bug == Bug::loss_from_gradient) losses[k] = static_cast<double>(one.gradient[k]);
      // Too large by four bounds each.
      if (setting_.bug == Bug::unclamped_losses) {
        losses[k] += 4 * static_cast<double>(one.batch_size) / 20 / setting_.sigma_l;
      }
    }
    return losses;
  }

  RunReleases releases(std::int64_t run) const {
    RunReleases out{.run = run, .steps = setting_.steps, .executed = simulated_events(setting_)};
    out.losses_per_probe = static_cast<std::int64_t>(setting_.points);
    for (std::int64_t step = 0; step < setting_.steps; ++step) {
      if (skipped(run, step)) continue;
      ++out.gradients;
      if (setting_.probes_at(step)) ++out.probes_shared;
    }
    return out;
  }

  // The joint score: each canary has a coordinate of its own and a loss at the bound.
  void add_canaries(Observations& seen) {
    const double gradient_mu = 1 / setting_.sigma_g;
    const double joint_mu = std::sqrt(gradient_mu * gradient_mu + static_cast<double>(setting_.points) /
                                                                      (setting_.sigma_l * setting_.sigma_l));
    const std::int64_t probes = (setting_.steps + setting_.interval - 1) / setting_.interval;
    for (const bool joint : {false, true}) {
      CanaryScores scores{.kind = joint ? "gradient and probe" : "gradient",
                          .sample_rate = setting_.sample_rate,
                          .steps = joint ? probes : setting_.steps - probes,
                          .claimed_mu = joint ? joint_mu : gradient_mu,
                          .in = {},
                          .out = {}};
      const auto count = static_cast<std::size_t>(setting_.runs * scores.steps * setting_.canaries);
      std::vector<double> values(2 * count);
      random::fill_normals(key_, address(joint ? 1 : 0, 0, random::Purpose::score_noise), 0, values);
      for (double& value : values) value *= setting_.noise_scale();
      scores.out.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
      for (std::size_t i = count; i < 2 * count; ++i) scores.in.push_back(values[i] + scores.claimed_mu);
      seen.canaries.push_back(std::move(scores));
    }
  }

  Setting setting_;
  random::Key key_;
  std::vector<std::int64_t> sizes_;
};

inline Observations observe(const Setting& setting) { return SimulatedTraining(setting).observe(); }

inline std::vector<std::string> refuted_names(const Report& report) {
  std::vector<std::string> names;
  for (const auto& finding : report.findings) {
    if (finding.refuted) names.push_back(finding.name);
  }
  return names;
}

}  // namespace hyfreedp::audit
