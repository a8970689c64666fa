// The list of the releases that a run may make. Everything that has to agree about them is read
// from this list: the events that are priced (events()), the noise that calibration leaves for
// gradients (gradient_noise_for()), what the mechanism allows and how it noises it
// (release/mechanism.h), what the journal books, and what an audit expects.
//
// A release is of a sum over the records of its batch, of which one record can change each value
// by at most the sensitivity:
//   released = (sum + noise_multiplier * sensitivity * z) / divisor + offset
// z is standard normal, or Laplace with scale 1. Divisor and offset are public constants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/facts.h"
#include "harness/accounting/event.h"
#include "harness/base/options.h"
#include "harness/random/stream.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::mechanism {

inline constexpr const char* kGradient = "gradient";
inline constexpr const char* kLossChange = "loss-change";
inline constexpr const char* kClipCount = "clip-count";
inline constexpr const char* kProbe = "probe";
inline constexpr const char* kScore = "score";

// The batches of a step. Releases that name one batch are computed on the same records, so they
// are folded before amplification by sampling (accounting/event.h). A release on kWholeSplit is an
// event of its own.
inline constexpr const char* kGradientBatch = "gradient";
inline constexpr const char* kProbeBatch = "probe";
inline constexpr const char* kWholeSplit = "whole split";

struct Schedule {
  // before step 0; at the steps t with t % every == 0; after the last step
  enum class When { before, steps, after };
  When when = When::steps;
  std::int64_t every = 1;

  bool has(std::int64_t step) const { return when == When::steps && step % every == 0; }
};

struct Release {
  std::string purpose;
  std::string split = trial::kTrainSplit;
  std::string batch = kGradientBatch;
  double sample_rate = 1;  // of the batch: the Poisson inclusion probability; 1: all records
  // The sensitivity of one value, or of the vector. Absent if it changes from step to step as a
  // function of earlier releases; whoever bounds the sum then gives it.
  std::optional<double> sensitivity = {};
  // Standard deviation (Laplace: scale) over the sensitivity; 0 in non-private runs.
  double noise_multiplier = 0;
  accounting::Noise noise = accounting::Noise::gaussian;
  std::int64_t values = 1;  // numbers, each with noise of its own; 0: one vector of any length
  double divisor = 1;
  double offset = 0;
  Schedule schedule = {};
  // The place of its noise in the run's stream, different for each purpose.
  random::Purpose stream = random::Purpose::gradient_noise;
  std::uint8_t lane = 0;

  // The release as accountants price it: a vector is one release.
  accounting::Release priced() const;
};

// The options by which a spec asks for one of trial::AskedReleases: one of `train` for each number
// of the release's struct, such as `feature_mean_noise` for `noise` of `feature-mean`.
struct Asked {
  std::string purpose;              // the member's name, with '-' for '_'
  std::vector<OptionSpec> options;  // the numbers, in the order in which help lists them
  std::string footnote;             // of a table whose runs make the release
  // Names what the release needs and a dataset of these sizes lacks, such as "a vector of features
  // for each record"; empty if it has all.
  std::string (*lacking)(const datasets::Sizes& sizes);

  std::string member() const;
  std::string option(const OptionSpec& number) const { return member() + "_" + number.name; }
};
const std::vector<Asked>& asked_releases();

// The releases of training under `plan`, in the order in which events name them.
std::vector<Release> releases(const trial::PrivacyPlan& plan);
// The releases of a whole run: training, then the score, if there is one.
std::vector<Release> releases(const trial::TrialConfig& config);
// The release that a step follows, on which the noise of calibration is: kGradient or kLossChange.
const char* followed(const trial::PrivacyPlan& plan);
bool is_followed(const std::string& purpose);
// The release of that purpose; null if the list has none.
const Release* find(const std::vector<Release>& list, const std::string& purpose);

// The events of steps [first, first + count) under `plan`, with steps that release the same
// merged; none if it is not private. Step 0 begins with what is released before it.
std::vector<accounting::Event> events(const trial::PrivacyPlan& plan, std::int64_t first, std::int64_t count);
// The events of a complete run: its steps, then its score.
std::vector<accounting::Event> events(const trial::TrialConfig& config);
// The event of a released validation score, with a noise multiplier of that many examples.
accounting::Event score_event(double noise_counts, const std::string& split = trial::kValidationSplit);

// The noise multiplier of the gradient with which a batch, with all but probes that is released of
// it at every step, costs as much as one Gaussian release with noise multiplier `sigma`:
// (sigma^-2 - sum_j values_j sigma_j^-2)^-1/2 over the others (Andrew et al., arXiv:1905.03871,
// Theorem 1), raised slightly so that rounding cannot make it too small. It is `sigma` where the
// gradient is the only such release. Returns an error if the others alone cost as much as `sigma`.
Result<double> gradient_noise_for(const trial::PrivacyPlan& plan, double sigma);

}  // namespace hyfreedp::mechanism
