// Runs of n tokens, and how often a text has each.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "datasets/scores/examples.h"

namespace hyfreedp::scores {

// The tokens of a run are joined by blanks.
using Counts = std::map<std::string, std::int64_t>;

// The counts of all runs of `length` tokens. `length`: 1 or more.
Counts n_grams(const Tokens& tokens, std::size_t length);
// The most times that one of the texts has each run.
Counts most_n_grams(std::span<const Tokens> texts, std::size_t length);
// The number of runs, repetitions counted.
std::int64_t total(const Counts& counts);
std::int64_t count_of(const Counts& counts, const std::string& run);

}  // namespace hyfreedp::scores
