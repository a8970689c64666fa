// trial.json beside published weights: what they are, and what may be said of their privacy.
//
//   {"spec", "spec_hash", "panel", "row", "method", "seed", "study", "trial", "program": names of the row and of its run
//    "private_data": [{"dataset", "epsilon", "delta"}: what of private data the weights have seen, their start's included]
//    "files": {NAME: SHA-256}, beside trial.json
//    "dataset": {"name", "options", "classes"}, "config": the run's whole config
//    "weights": "of the last step" or what else; "features": where a mean must be taken off first
//    "model": what a spec says to begin with them, FOLDER being where they lie
//    "test": {"accuracy": x, ...}: the last measured, on public test data
//    "privacy": {"epsilon", "delta", "neighbouring", "label", "flags", "claimed_epsilon", "statement"}
//    "watermark": of weights that are no release, and only of those}
// Neither times nor attempts: under private selection they tell of the other runs.
#pragma once

#include <string>
#include <vector>

#include "results/store.h"

namespace hyfreedp::runner {

struct WeightsMetadata {
  const results::SpecRecord& spec;
  const results::StudyRecord& study;
  const results::TrialRecord& trial;
  const std::vector<trial::MetricRecord>& metrics;  // released and test
  const json::object& kept;                         // harness/training/kept_weights.h
  json::array private_data;           // of the start (initial_weights.h); the run's own is added
  json::object files;                 // that stand beside it
  std::string why_confidential = {};  // empty: a release
};

json::object to_json(const WeightsMetadata& metadata);

}  // namespace hyfreedp::runner
