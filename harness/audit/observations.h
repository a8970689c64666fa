// The observations of training runs that an audit has made, standardised, so that its tests need
// not know the model.
//
// harness/training/audit collects it on the real training path; findings.h judges it. An audit sees
// raw values, so it runs on generated or public data only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/accounting/event.h"

namespace hyfreedp::audit {

// One step's released tensors against sums that were computed anew, in float64, by independent
// code.
struct StepResiduals {
  std::int64_t run = 0;
  std::int64_t step = 0;
  std::int64_t batch_size = 0;  // realised
  // (vector handed to the optimizer * B - clipped sum) / (sigma_g * sensitivity), [d]: N(0, I) when
  // all is well. Of a released change of losses likewise, one number.
  std::vector<float> gradient;
  // The same projected on the direction of the clipped sum, N(0, 1); NaN where the sum is 0.
  double along_sum = 0;
  // (loss handed to the controller * B - sum of clamped losses) / (sigma_l * bound), one a loss;
  // empty without a probe.
  std::vector<double> losses;
};

// The records that the batches of one kind ("gradient", "probe") held, over all runs.
struct SamplerCounts {
  std::string batch;
  std::int64_t population = 0;
  double sample_rate = 0;
  std::vector<std::int64_t> sizes;       // one a batch drawn
  std::vector<std::int64_t> inclusions;  // [population]: in how many batches each record was
  std::vector<std::int64_t>
      pair_together;  // [population - 1]: in how many batches records i and i + 1 both were
};

// Scores of canaries for one kind of step, each the normalised log-likelihood ratio of "in" against
// "out" computed from everything that the step released of the batch: N(0, 1) out and N(mu, 1) in,
// where mu <= claimed_mu. One score "in" and one "out" a step at most, so that scores of a list are
// independent.
struct CanaryScores {
  std::string kind;        // "gradient", "gradient and probe", "probe"
  double sample_rate = 0;  // of the batch
  std::int64_t steps = 0;  // that many such steps a run are claimed
  double claimed_mu = 0;   // 1 / sigma_eff as the ledger has it
  std::vector<double> in;
  std::vector<double> out;
};

// The releases that one run handed out, and what its journal booked.
struct RunReleases {
  std::int64_t run = 0;
  std::int64_t steps = 0;            // T of the config
  std::int64_t gradients = 0;        // vectors handed to the optimizer, or changes of losses
  std::int64_t probes_shared = 0;    // probes computed on the gradient's own batch
  std::int64_t probes_separate = 0;  // probes on a batch of their own
  std::int64_t losses_per_probe = 0;
  std::vector<accounting::Event> executed;  // of the journal
};

// One-run audit (Steinke, Nasr & Jagielski 2023): a fair coin decided for each canary whether it
// was in the data; from the final weights alone, the audit guesses this for some of them.
struct OneRunGuesses {
  std::int64_t canaries = 0;
  std::int64_t guesses = 0;
  std::int64_t correct = 0;
};

struct Observations {
  std::vector<StepResiduals> residuals;
  std::vector<SamplerCounts> samplers;
  std::vector<CanaryScores> canaries;
  std::vector<RunReleases> runs;
  std::vector<OneRunGuesses> one_run;
};

}  // namespace hyfreedp::audit
