// One training run, fully resolved: what a worker receives and all it receives.
//
// The identity of a trial is the hash of this object, so rows that need the same run share it, and a finished
// run is never repeated. Independent repetitions of the same setting (private selection draws a candidate
// twice) differ in `repetition`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/trial/privacy_plan.h"
#include "harness/trial/training_options.h"

namespace hyfreedp::trial {

struct Named {
  std::string name;
  json::object options;  // resolved: every default filled in
};

// The splits that a run's events name.
inline constexpr const char* kTrainSplit = "private_train";
inline constexpr const char* kValidationSplit = "private_validation";

// A priced release of the final validation accuracy: count of correct examples plus Gaussian noise of that
// many counts, over the public size of the split. Absent: no validation score is released.
struct ScoreRelease {
  double noise_counts = 0;
};

struct Evaluation {
  std::int64_t every = 0;  // test loss and accuracy each that many steps (and always at the end); 0: end only
  bool oracle_validation = false;  // the un-noised validation accuracy; confidential, makes the row an oracle
  bool oracle_train = false;       // the same of the training split
  std::optional<ScoreRelease> score;
  // Quantiles of each batch's gradient norms and its clipped fraction into the journal. Raw values of the training split:
  // only where that split is public (datasets::Facts::public_train); spec and worker refuse it elsewhere.
  bool gradient_norms = false;
  // What a nightly comparison reads, into the steps' scalars (released_norms.h): norms of what was released, and, on public
  // training splits alone, the residual of the noise.
  bool released_norms = false;
  bool noise_residual = false;
};

struct TrialConfig {
  Named dataset;
  Named model;
  Named optimizer;
  Named controller;
  PrivacyPlan privacy;
  Evaluation evaluation;
  TrainingOptions training;
  std::int64_t steps = 0;
  std::int64_t seed = 0;                  // of the cell; enters initialisation and, when seeded, every stream
  std::int64_t repetition = 0;            // independent repeats of the same setting
  std::optional<std::string> noise_seed;  // absent: the key comes from the system's entropy
  std::string device = "cpu";
  std::string dtype = "float32";

  // All that a run to its end releases: its steps, then its score. Empty where nothing has noise.
  std::vector<accounting::Event> events() const;

  json::object to_json() const;
  static Result<TrialConfig> from_json(const json::value& value, const std::string& where);
  // First 16 hex digits of the SHA-256 of the canonical JSON.
  std::string id() const;
};

accounting::Event score_event(double noise_counts, const std::string& split = kValidationSplit);

json::object to_json(const Named& named);

}  // namespace hyfreedp::trial
