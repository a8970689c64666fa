// The observer of one run of an audit: it computes standardised observations from each release, and
// harness/audit tests them.
//
// Residuals    (released vector * B - reference sum) / (sigma_g * sensitivity), and the same for
//              losses.
//              A change of losses (DP-ZO) is taken for a gradient of one coordinate.
// Scores       of a canary with clipped gradient c. They are computed from released * B minus the
//              sum over all other records, in units of the noise's standard deviation: r for the
//              gradient, r_k for loss k of m.
//   z_g   <r, c / |c|>: N(0, 1) out, mean |c| / (sigma_g * sensitivity) <= 1 / sigma_g in
//   z_l   sum_k r_k / sqrt(m): N(0, 1) out, mean <= sqrt(m) / sigma_l in
//   both  (z_g / sigma_g + z_l sqrt(m) / sigma_l) / mu with mu^2 = 1 / sigma_g^2 + m / sigma_l^2,
//         for releases on one batch. It is the likelihood ratio of "in" against "out" if the canary
//         has the largest effect that one record may have; always N(0, 1) out, and never more than
//         N(mu, 1) in
// "In" and "out" say whether the canary is in the step's batch. Each step scores at most one canary
// of each kind: the one with the largest loss at the step's weights, among canaries whose clipped
// norm there is at least kAlive times the sensitivity. The choice depends on the weights and on the
// batch, and not on the step's noise, so a score keeps its distribution.
#pragma once

#include "harness/audit/observations.h"
#include "harness/mechanism/release/observer.h"
#include "harness/mechanism/releases.h"
#include "harness/training/audit/experiment.h"
#include "harness/training/audit/reference.h"

namespace hyfreedp::training {

inline constexpr double kAlive = 0.9;

struct RunObservations {
  std::vector<audit::StepResiduals> residuals;
  audit::SamplerCounts gradient_batches;
  audit::SamplerCounts probe_batches;   // of probes with batches of their own
  audit::CanaryScores gradient_scores;  // of steps that release a gradient alone
  audit::CanaryScores joint_scores;     // of steps whose probe is on the gradient's batch
  audit::CanaryScores probe_scores;     // of probes with batches of their own
  audit::RunReleases releases;          // without the journal's events
};

class AuditObserver : public mechanism::Observer {
 public:
  // Residuals of steps from `residual_steps` on are not kept, to bound memory.
  AuditObserver(const Experiment& experiment, std::int64_t run, std::int64_t residual_steps);

  void vector_released(const mechanism::VectorSeen& seen) override;
  void values_released(const mechanism::ValuesSeen& seen) override;
  void run_ended(const torch::Tensor&) override {}

  RunObservations take() { return std::move(observed_); }

 private:
  // The canaries that a step scores, as indices of experiment.canaries; -1: none.
  struct Chosen {
    std::int64_t in = -1;
    std::int64_t out = -1;
    double in_score = 0;  // z_g
    double out_score = 0;
  };

  std::vector<std::int64_t> rows_of(const mechanism::Rows& rows) const;
  // Chooses at most one canary in and one out; `alive` [m] bool, `losses` [m].
  Chosen choose(const std::vector<std::int64_t>& rows, const torch::Tensor& alive,
                const torch::Tensor& losses) const;
  Chosen score_gradient(const mechanism::VectorSeen& seen, const std::vector<std::int64_t>& rows,
                        const torch::Tensor& residual) const;
  void change_released(const mechanism::ValuesSeen& seen);
  void keep_residual(std::int64_t step, const std::vector<std::int64_t>& rows, const torch::Tensor& residual,
                     const torch::Tensor& sum);
  void score_probe(const mechanism::ValuesSeen& seen, const std::vector<std::int64_t>& rows,
                   const std::vector<double>& residuals);
  // The mean by which canary `place` shifts z_l.
  double loss_shift(const mechanism::ValuesSeen& seen, std::int64_t place) const;
  double gradient_scale() const;

  const Experiment& experiment_;
  const trial::PrivacyPlan& plan_;
  mechanism::Release gradient_;              // as the plan has it, or the change of losses
  std::optional<mechanism::Release> probe_;  // absent: no probes
  Reference reference_;
  std::int64_t residual_steps_;
  RunObservations observed_;
  Chosen pending_;  // of a step whose probe is on the same batch
};

}  // namespace hyfreedp::training
