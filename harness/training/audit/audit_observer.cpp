#include "harness/training/audit/audit_observer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/accounting/normal.h"

namespace hyfreedp::training {
namespace {

using torch::Tensor;

void count_batch(const std::vector<std::int64_t>& rows, audit::SamplerCounts& counts) {
  counts.sizes.push_back(static_cast<std::int64_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++counts.inclusions[static_cast<std::size_t>(rows[i])];
    if (i > 0 && rows[i] == rows[i - 1] + 1) ++counts.pair_together[static_cast<std::size_t>(rows[i - 1])];
  }
}

audit::SamplerCounts empty_counts(const char* batch, std::int64_t population, double rate) {
  audit::SamplerCounts counts;
  counts.batch = batch;
  counts.population = population;
  counts.sample_rate = rate;
  counts.inclusions.assign(static_cast<std::size_t>(population), 0);
  counts.pair_together.assign(static_cast<std::size_t>(population - 1), 0);
  return counts;
}

audit::CanaryScores empty_scores(const char* kind, double rate, std::int64_t steps, double mu) {
  audit::CanaryScores scores;
  scores.kind = kind;
  scores.sample_rate = rate;
  scores.steps = steps;
  scores.claimed_mu = mu;
  return scores;
}

// 1 / sigma of all losses of a probe together.
double probe_mu(const mechanism::Release& probe) {
  return std::sqrt(static_cast<double>(probe.values)) / probe.noise_multiplier;
}

std::optional<mechanism::Release> probe_of(const trial::PrivacyPlan& plan) {
  const auto planned = mechanism::releases(plan);
  const auto* probe = mechanism::find(planned, mechanism::kProbe);
  return probe != nullptr ? std::optional(*probe) : std::nullopt;
}

// Noise of scale 1 as a standard normal: by its probability.
double as_normal(double noise, accounting::Noise distribution) {
  if (distribution == accounting::Noise::gaussian) return noise;
  const double tail = 0.5 * std::exp(-std::abs(noise));  // of a Laplace variable beyond |noise|
  return std::copysign(accounting::normal_tail_inverse(std::max(tail, 1e-300)), noise);
}

bool is_shared(const mechanism::Release& probe) { return probe.batch == mechanism::kGradientBatch; }
// A batch of all records has no sampler to be tested.
bool is_sampled_apart(const mechanism::Release& probe) { return !is_shared(probe) && probe.sample_rate < 1; }

void prepare_scores(std::int64_t steps, const mechanism::Release& gradient,
                    const std::optional<mechanism::Release>& probe, RunObservations& observed) {
  const auto probes = probe ? (steps + probe->schedule.every - 1) / probe->schedule.every : 0;
  const bool shared = probe && is_shared(*probe);
  const double mu = 1 / gradient.noise_multiplier;
  observed.gradient_scores =
      empty_scores("gradient", gradient.sample_rate, shared ? steps - probes : steps, mu);
  if (shared) {
    observed.joint_scores =
        empty_scores("gradient and probe", probe->sample_rate, probes, std::hypot(mu, probe_mu(*probe)));
  } else if (probe) {
    observed.probe_scores = empty_scores("probe", probe->sample_rate, probes, probe_mu(*probe));
  }
}

std::vector<float> to_floats(const Tensor& values) {
  const auto floats = values.to(torch::kFloat32).contiguous();
  return {floats.data_ptr<float>(), floats.data_ptr<float>() + floats.numel()};
}

}  // namespace

AuditObserver::AuditObserver(const Experiment& experiment, std::int64_t run, std::int64_t residual_steps)
    : experiment_(experiment),
      plan_(experiment.config.privacy),
      gradient_(*mechanism::find(mechanism::releases(plan_), mechanism::followed(plan_))),
      probe_(probe_of(plan_)),
      reference_(experiment.config, experiment.dataset.private_train),
      residual_steps_(residual_steps) {
  observed_.gradient_batches = empty_counts("gradient", plan_.population, gradient_.sample_rate);
  if (probe_ && is_sampled_apart(*probe_)) {
    observed_.probe_batches = empty_counts("probe", plan_.population, probe_->sample_rate);
  }
  prepare_scores(experiment.config.steps, gradient_, probe_, observed_);
  observed_.releases.run = run;
  observed_.releases.steps = experiment.config.steps;
  observed_.releases.losses_per_probe = probe_ ? probe_->values : 0;
}

double AuditObserver::gradient_scale() const {
  return gradient_.noise_multiplier * plan_.clipping.sensitivity();
}

std::vector<std::int64_t> AuditObserver::rows_of(const mechanism::Rows& rows) const {
  if (!rows.all) return rows.indices;
  std::vector<std::int64_t> every(static_cast<std::size_t>(rows.count));
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int64_t>(i);
  return every;
}

AuditObserver::Chosen AuditObserver::choose(const std::vector<std::int64_t>& rows, const Tensor& alive,
                                            const Tensor& losses) const {
  Chosen chosen;
  const auto is_alive = alive.accessor<bool, 1>();
  const auto loss = losses.accessor<double, 1>();
  const auto better = [&](std::int64_t place, std::int64_t than) {
    return than < 0 || loss[place] > loss[than];
  };
  for (std::int64_t j = 0; j < alive.size(0); ++j) {
    if (!is_alive[j]) continue;
    const auto row = experiment_.canaries[static_cast<std::size_t>(j)];
    auto& best = std::binary_search(rows.begin(), rows.end(), row) ? chosen.in : chosen.out;
    if (better(j, best)) best = j;
  }
  return chosen;
}

AuditObserver::Chosen AuditObserver::score_gradient(const mechanism::VectorSeen& seen,
                                                    const std::vector<std::int64_t>& rows,
                                                    const Tensor& residual) const {
  // [m, d]
  const auto gradients = reference_.clipped_gradients(*seen.origin.weights, experiment_.canaries);
  const auto norms = at::linalg_vector_norm(gradients, 2, at::IntArrayRef{1});
  auto chosen = choose(rows, norms >= kAlive * plan_.clipping.sensitivity(),
                       reference_.losses(*seen.origin.weights, experiment_.canaries));
  // The sum without the canary leaves the canary itself in the residual.
  if (chosen.in >= 0) {
    const double norm = norms[chosen.in].item<double>();
    chosen.in_score =
        (gradients[chosen.in].dot(residual).item<double>() + norm * norm / gradient_scale()) / norm;
  }
  if (chosen.out >= 0) {
    chosen.out_score = (gradients[chosen.out].dot(residual) / norms[chosen.out]).item<double>();
  }
  return chosen;
}

void AuditObserver::vector_released(const mechanism::VectorSeen& seen) {
  const auto rows = rows_of(*seen.origin.rows);
  count_batch(rows, observed_.gradient_batches);
  ++observed_.releases.gradients;

  const auto sum = reference_.clipped_sum(*seen.origin.weights, rows);
  const auto residual = (seen.released.to(torch::kFloat64) * gradient_.divisor - sum) / gradient_scale();
  keep_residual(seen.step, rows, residual, sum);
  pending_ = {};
  if (experiment_.canaries.empty()) return;
  const auto chosen = score_gradient(seen, rows, residual);
  if (probe_ && is_shared(*probe_) && probe_->schedule.has(seen.step)) {
    pending_ = chosen;
    return;
  }
  if (chosen.in >= 0) observed_.gradient_scores.in.push_back(chosen.in_score);
  if (chosen.out >= 0) observed_.gradient_scores.out.push_back(chosen.out_score);
}

void AuditObserver::keep_residual(std::int64_t step, const std::vector<std::int64_t>& rows,
                                  const Tensor& residual, const Tensor& sum) {
  if (step >= residual_steps_) return;
  const double length = sum.norm().item<double>();
  audit::StepResiduals entry;
  entry.run = observed_.releases.run;
  entry.step = step;
  entry.batch_size = static_cast<std::int64_t>(rows.size());
  entry.gradient = to_floats(residual);
  entry.along_sum = length > 0 ? residual.dot(sum).item<double>() / length : std::nan("");
  observed_.residuals.push_back(std::move(entry));
}

// As vector_released(), of a sum of one number.
void AuditObserver::change_released(const mechanism::ValuesSeen& seen) {
  const auto rows = rows_of(*seen.origin.rows);
  count_batch(rows, observed_.gradient_batches);
  ++observed_.releases.gradients;

  const auto weights = seen.origin.weights->to(torch::kFloat64);
  const auto direction = seen.origin.direction->to(torch::kFloat64);
  const auto changes_of = [&](const std::vector<std::int64_t>& records) {
    const auto losses = [&](double x) { return reference_.losses(weights - direction * x, records); };
    return Reference::clamped_change(losses(seen.origin.abscissas.front()),
                                     losses(seen.origin.abscissas.back()), plan_.clipping.sensitivity());
  };
  const auto sum = changes_of(rows).sum().view({1});
  const auto residual = (seen.released.front() * gradient_.divisor - sum) / gradient_scale();
  keep_residual(seen.step, rows, residual, sum);
  if (experiment_.canaries.empty()) return;
  const auto changes = changes_of(experiment_.canaries);
  const auto chosen = choose(rows, changes.abs() >= kAlive * plan_.clipping.sensitivity(),
                             reference_.losses(weights, experiment_.canaries));
  const double noise = residual.item<double>();
  if (chosen.in >= 0) {
    const double change = changes[chosen.in].item<double>();
    observed_.gradient_scores.in.push_back(std::copysign(1.0, change) * (noise + change / gradient_scale()));
  }
  if (chosen.out >= 0) {
    observed_.gradient_scores.out.push_back(std::copysign(1.0, changes[chosen.out].item<double>()) * noise);
  }
}

void AuditObserver::values_released(const mechanism::ValuesSeen& seen) {
  if (seen.purpose == mechanism::kLossChange) return change_released(seen);
  const auto rows = rows_of(*seen.origin.rows);
  if (is_sampled_apart(*probe_)) count_batch(rows, observed_.probe_batches);
  const bool on_gradient = seen.origin.rows->batch == mechanism::kGradientBatch;
  ++(on_gradient ? observed_.releases.probes_shared : observed_.releases.probes_separate);

  const double scale = probe_->noise_multiplier * seen.sensitivity;
  std::vector<double> residuals;
  for (std::size_t k = 0; k < seen.origin.abscissas.size(); ++k) {
    const auto there = seen.origin.weights->to(torch::kFloat64) -
                       seen.origin.direction->to(torch::kFloat64) * seen.origin.abscissas[k];
    const auto losses = Reference::clamped(reference_.losses(there, rows), seen.sensitivity);
    const double noise = (seen.released[k] * probe_->divisor - losses.sum().item<double>()) / scale;
    residuals.push_back(as_normal(noise, probe_->noise));
  }
  if (!observed_.residuals.empty() && observed_.residuals.back().step == seen.step) {
    observed_.residuals.back().losses = residuals;
  }
  // A score is a sum of Gaussian residuals.
  if (experiment_.canaries.empty() || probe_->noise != accounting::Noise::gaussian) return;
  score_probe(seen, rows, residuals);
}

double AuditObserver::loss_shift(const mechanism::ValuesSeen& seen, std::int64_t place) const {
  double shift = 0;
  for (const double x : seen.origin.abscissas) {
    const auto there =
        seen.origin.weights->to(torch::kFloat64) - seen.origin.direction->to(torch::kFloat64) * x;
    const auto losses = reference_.losses(there, {experiment_.canaries[static_cast<std::size_t>(place)]});
    shift += Reference::clamped(losses, seen.sensitivity).item<double>();
  }
  return shift / (std::sqrt(static_cast<double>(seen.origin.abscissas.size())) * probe_->noise_multiplier *
                  seen.sensitivity);
}

void AuditObserver::score_probe(const mechanism::ValuesSeen& seen, const std::vector<std::int64_t>& rows,
                                const std::vector<double>& residuals) {
  double out_score = 0;
  for (const double residual : residuals) out_score += residual;
  out_score /= std::sqrt(static_cast<double>(residuals.size()));

  if (!is_shared(*probe_)) {
    const auto losses = reference_.losses(*seen.origin.weights, experiment_.canaries);
    const auto chosen = choose(rows, at::isfinite(losses), losses);
    if (chosen.in >= 0) observed_.probe_scores.in.push_back(out_score + loss_shift(seen, chosen.in));
    if (chosen.out >= 0) observed_.probe_scores.out.push_back(out_score);
    return;
  }
  auto& scores = observed_.joint_scores;
  const double gradient_part = 1 / (gradient_.noise_multiplier * scores.claimed_mu);
  const double loss_part = probe_mu(*probe_) / scores.claimed_mu;
  if (pending_.in >= 0) {
    scores.in.push_back(gradient_part * pending_.in_score +
                        loss_part * (out_score + loss_shift(seen, pending_.in)));
  }
  if (pending_.out >= 0) {
    scores.out.push_back(gradient_part * pending_.out_score + loss_part * out_score);
  }
}

}  // namespace hyfreedp::training
