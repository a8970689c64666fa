// The studies of an output folder that a command is about: SPEC, and --only as `hyfreedp run` has
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/common/command.h"
#include "harness/runner/execute/study_request.h"
#include "results/store/store.h"

namespace hyfreedp::cli {

struct StudyChoice {
  std::string spec;  // its name in the database, or its file
  std::string preset;
  std::vector<std::string> only;
  std::string out = "out";

  // `what`: the verb of --only's help, such as "cancel".
  void describe(Options& options, const std::string& what);
};

struct ChosenStudies {
  results::SpecRecord spec;
  std::vector<results::StudyRecord> studies;  // in the database's order
};

// The recorded studies of the spec that `choice` names, in its present release. An error where the
// database has no such spec, or --only names nothing of it.
Result<ChosenStudies> chosen_studies(const results::Store& store, const StudyChoice& choice);

// Hands the request in for the studies that `choice` names (runner::hand_in). Returns which they
// are, as studies_text() says it.
Result<std::string> hand_in_for(const StudyChoice& choice, runner::StudyRequest request);

// "3 studies of 'quick'"
std::string studies_text(std::size_t count, const std::string& spec);

// "3 studies: 1 concluded, 1 open, 1 failed (1 diverged)".
std::string study_counts(const std::vector<results::StudyRecord>& studies);

}  // namespace hyfreedp::cli
