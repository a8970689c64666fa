// A fixed part of a split: as many records as a spec asks for, chosen by a public key and not by
// what they contain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/facts.h"
#include "datasets/own/parts.h"
#include "harness/base/options.h"

namespace hyfreedp::datasets {

// The options `train`, `validation` and `test` of the splits that have records, left out where
// absent: all records of the split, of which there are at most `all`. `of_all` says what all are
// where their number differs.
std::vector<OptionSpec> count_options(const Sizes& all, const std::string& of_all = "");
// `all` with the sizes that the options ask for.
Sizes with_counts(Sizes all, const json::object& options);

// An error where the options ask for more records than `all` has: of datasets whose sizes depend on
// other options, so that the ranges of the counts are those of the largest. `where`: what has them.
Result<void> check_counts(const Sizes& all, const json::object& options,
                          const std::string& where = "under these options");

// `count` of the rows 0 .. population - 1, sorted; a smaller count is a part of a larger one. The
// choice depends on the dataset's name and the split alone.
std::vector<std::int64_t> keyed_subset(const std::string& dataset, Split split, std::int64_t population,
                                       std::int64_t count);

// Which images of the training and of the test file make each split.
struct DividedRows {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;
  std::vector<std::int64_t> test;
};
// The training file's images, all.private_train + all.private_validation of them, are divided by a
// fixed key; of each split `n` are taken.
DividedRows held_out_rows(const std::string& dataset, const Sizes& all, const Sizes& n);

}  // namespace hyfreedp::datasets
