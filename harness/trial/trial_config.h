// The configuration of one training run, with every default filled in.
//
// The identity of a trial is the hash of this object. Rows that need the same run therefore share
// it, and a finished run is not repeated. Independent repetitions of one setting
// (private selection may draw a candidate twice) differ in `repetition`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/trial/generation.h"
#include "harness/trial/privacy_plan.h"
#include "harness/trial/training_options.h"

namespace hyfreedp::trial {

// A registered dataset, model, optimizer or controller, with its options.
struct Named {
  std::string name;
  json::object options;  // resolved: every default filled in

  bool operator==(const Named&) const = default;
};
BOOST_DESCRIBE_STRUCT(Named, (), (name, options))

// TrialConfig::repetition of release r (harness/runner/odometer/release.h) starts at r times this
// number; a method adds less than it.
inline constexpr std::int64_t kRepetitionsPerRelease = 1'000'000;

// The splits that a run's events name.
inline constexpr const char* kTrainSplit = "private_train";
inline constexpr const char* kValidationSplit = "private_validation";

// A test set of another distribution than the training data (a distribution shift): the test split
// of a dataset, on which the run is measured at its end, and of which nothing else is loaded. It
// selects nothing: methods see FinishedTrial (baselines/baseline.h), which has no such value.
struct OodTest {
  std::string id;
  Named dataset;  // its options ask for no training and no validation record (datasets::test_alone)

  // The prefix of the split that a measured value names: "ood_test:ID".
  static constexpr std::string_view kSplits = "ood_test:";
  std::string split() const { return std::string(kSplits) + id; }

  bool operator==(const OodTest&) const = default;
};
BOOST_DESCRIBE_STRUCT(OodTest, (), (id, dataset))

// A priced release of how well the final model does on the validation split: the sum over its
// records of a number in [0, 1], plus Gaussian noise of standard deviation `noise_counts`, over the
// public size of the split. A record's number is 1 where it is predicted right and else 0; or, with
// a loss bound R, 1 - min(L, R) / R of its mean loss L. One record changes the sum by at most 1
// either way, so both cost the same. Absent: no validation score is released.
struct ScoreRelease {
  double noise_counts = 0;  // > 0
  double loss_bound = 0;    // R, in units of the loss; 0: by correct predictions

  bool operator==(const ScoreRelease&) const = default;

  // The noise alone where there is no bound, as before there were any.
  json::value to_json() const;
  static Result<ScoreRelease> from_json(const json::value& value, const std::string& where);
};

// The values that a run journals beside its last test accuracy, if the spec's `evaluate` asks for
// them.
struct Recorded {
  // Raw values, of public training splits alone (datasets::Facts::public_train), which spec and
  // worker see to: quantiles of each batch's gradient norms and its clipped fraction; a probe's
  // losses before clipping and before noise; loss and accuracy of the training split whenever the
  // test split is evaluated; the residual of the noise.
  bool gradient_norms = false;
  bool raw_losses = false;
  bool training_split = false;
  bool noise_residual = false;
  // The norms of releases, for a nightly comparison (released_norms.h).
  bool released_norms = false;
  // The distance of the weights from the initial ones, before each step.
  bool distance = false;
  // Also the macro accuracy and the AUC of test data (harness/training/class_scores.h).
  bool by_class = false;
  // Scores of what the network writes after the prompts of the test split, at the end of the run
  // (harness/training/written_texts.h).
  std::optional<GenerationOptions> written;

  bool operator==(const Recorded&) const = default;
  static constexpr bool kLeftOut = true;
};
BOOST_DESCRIBE_STRUCT(Recorded, (),
                      (gradient_norms, raw_losses, training_split, noise_residual, released_norms, distance,
                       by_class, written))

struct Evaluation {
  // number of steps between test evaluations (one is always at the end); 0: at the end only
  std::int64_t every = 0;
  // the un-noised validation accuracy; confidential, makes the row an oracle
  bool oracle_validation = false;
  bool oracle_train = false;  // the same of the training split
  std::optional<ScoreRelease> score;
  Recorded recorded;

  bool operator==(const Evaluation&) const = default;

  static constexpr std::array kNames = {description::Name{"score", "score_noise_counts"}};
  static constexpr std::array kInlined = {"recorded"};
  static constexpr std::array kLeftOut = {"oracle_train"};
};
BOOST_DESCRIBE_STRUCT(Evaluation, (), (every, oracle_validation, oracle_train, score, recorded))

struct TrialConfig {
  Named dataset;
  std::vector<OodTest> ood_test;
  Named model;
  Named optimizer;
  Named controller;
  PrivacyPlan privacy;
  Evaluation evaluation;
  TrainingOptions training;
  std::int64_t steps = 0;
  // the study's seed; enters initialisation and, if seeded, every stream
  std::int64_t seed = 0;
  std::int64_t repetition = 0;            // independent repeats of the same setting
  std::optional<std::string> noise_seed;  // absent: the key comes from the system's entropy
  std::string device = "cpu";
  std::string dtype = "float32";

  json::object to_json() const;
  static Result<TrialConfig> from_json(const json::value& value, const std::string& where);
  // The first 16 hex digits of the SHA-256 of the canonical JSON.
  std::string id() const;

  static constexpr std::array kLeftOut = {"ood_test", "training"};
};
BOOST_DESCRIBE_STRUCT(TrialConfig, (),
                      (dataset, ood_test, model, optimizer, controller, privacy, evaluation, training, steps,
                       seed, repetition, noise_seed, device, dtype))

// The datasets that the run loads: its own, and those of its sets of ood_test.
std::vector<Named> datasets_of(const TrialConfig& config);

}  // namespace hyfreedp::trial
