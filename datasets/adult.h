// Adult: who earned more than 50,000 dollars in 1994, from 14 answers to a census survey (Becker, Kohavi: Adult, UCI Machine
// Learning Repository, 1996, doi:10.24432/C5XW20).
//
//   features  104: one-hot of the 8 categorical columns (7 + 16 + 7 + 14 + 6 + 5 + 2 + 41 = 98) in their place among the 6 numeric
//             ones, each divided by a public constant. capital: log takes log(1 + x) / log(1 + 99,999) for the two capital columns
//   label     1: more than 50,000 dollars
// Categories are those of the dataset's own description (adult.names), sorted; nothing is fitted to rows. Its class Never-worked
// is left out: such a person has no occupation, so that no complete row has it.
//
// Rows with an empty field (or ?) are left out, as is usual: 30,162 of the file's 32,561 are complete. That is a function of one
// row alone. The splits are of 20,000, 4,129 and 6,033 complete rows, by a keyed hash of a row's place in the file: 80 : 20 train
// and test, and the validation part taken from train. This test part is not the one that UCI ships (adult.test). N and the sizes
// count as public constants, by the usual convention; neighbouring data differ in one row of a split.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "datasets/dataset.h"

namespace hyfreedp::datasets {

Result<Dataset> load_adult(const Facts& facts, const json::object& options);

struct AdultTable {
  std::vector<float> features;       // [rows, kAdultFeatures]
  std::vector<std::int64_t> labels;  // [rows]
  std::vector<std::size_t> places;   // of each row in the file, from 0, incomplete ones counted
};

inline constexpr std::size_t kAdultFeatures = 104;

// The complete rows of a file, in its order. An unknown category, or a number that is none or negative, is an error with its line.
Result<AdultTable> read_adult(const std::string& path, bool log_capital);

// Rows (indices of `places`, in order) of private_train, private_validation and test: those of the `test` smallest hashes are test, of the
// `validation` next ones private_validation. Requires test + validation <= places.size().
std::array<std::vector<std::int64_t>, 3> split_adult(const std::vector<std::size_t>& places,
                                                     std::int64_t validation, std::int64_t test);

}  // namespace hyfreedp::datasets
