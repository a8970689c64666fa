// The metadata file trial.json beside published weights: what they are, and what is claimed about
// their privacy.
//
//   {"spec", "spec_hash", "panel", "row", "method", "seed", "study", "trial", "program": names of
//   the row and of its run
//    "private_data": [{"dataset", "marks" (datasets/same_data.h), "epsilon", "delta"}: the private
//    data that the weights have seen, their start included]
//    "files": {NAME: SHA-256}, beside trial.json
//    "dataset": {"name", "options", "classes", "class_names": present if own files name them,
//    "columns_sha256": present if an own table names its features (datasets/table_columns.h)},
//    "config": the run's whole config
//    "weights": such as "of the last step"; "features": present if a mean must be subtracted first
//    "model": the `model` of a spec that starts from them, with FOLDER for their folder
//    "test": {"accuracy": x, ...}: the last measurement on public test data
//    "privacy": {"epsilon", "delta", "neighbouring", "label", "flags", "claimed_epsilon",
//    "statement"}
//    "watermark": present if and only if the weights are not a release
//    "tag": of all of it, under the user's secret (initial_weights.h)}
// It has no times and no attempt numbers, because under private selection these would reveal
// something of the other runs.
#pragma once

#include <string>
#include <vector>

#include "results/store/store.h"

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
