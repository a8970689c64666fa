// Scores what a network writes after the prompts of a test split against the split's own texts
// (datasets/scores/scores.h).
//
// A record is a prompt, the tokens before the first that is scored, and a reference, the scored
// ones up to the end of text. Records with the same prompt are one example with several references,
// as the E2E challenge has them. Test data are outside of ε, and nothing is selected by these
// scores.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/text/tokenizer.h"
#include "harness/models/generation/generation.h"
#include "harness/trial/trial_config.h"

namespace hyfreedp::training {

struct WrittenTask {
  std::vector<models::Ids> prompts;                  // each once, in the split's order
  std::vector<std::vector<std::string>> references;  // of each prompt
  std::shared_ptr<datasets::Tokenizer> tokenizer;    // the dataset's
};

// Errors: a record without a prompt, or whose reference was cut at the dataset's `length`; a
// dataset without a tokenizer; a network that does not read from left to right, or has too few
// positions.
Result<WrittenTask> written_task(const trial::TrialConfig& config, const datasets::Sizes& sizes,
                                 const datasets::SplitData& test);

// The scores by the names of a journal: with - for _. `was_stopped` is asked between batches of
// prompts; where it returns true there are none.
using NamedScores = std::vector<std::pair<std::string, double>>;
Result<std::optional<NamedScores>> write_and_score(const models::Network& network, const WrittenTask& task,
                                                   const trial::GenerationOptions& options,
                                                   const std::function<bool()>& was_stopped);

}  // namespace hyfreedp::training
