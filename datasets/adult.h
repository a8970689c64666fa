// Adult: whether a person earned more than 50,000 dollars in 1994, from 14 answers to a census
// survey (Becker, Kohavi: Adult, UCI Machine Learning Repository, 1996, doi:10.24432/C5XW20).
//
//   features  104 numbers in the order of the file's columns: the one-hot codes of the 8
//             categorical columns (7 + 16 + 7 + 14 + 6 + 5 + 2 + 41 = 98) and the 6 numeric
//             columns, each divided by a public constant. With the option `capital: log`, the two
//             capital columns become log(1 + x) / log(1 + 99,999)
//   label     1: more than 50,000 dollars, 0: not
// The categories are those of the dataset's own description (adult.names), sorted; nothing is
// fitted to rows. The class Never-worked is left out, because no complete row has it
// (such a person has no occupation).
//
// Rows with an empty field (or ?) are left out, as is usual: 30,162 of the file's 32,561 rows are
// complete. Whether a row is complete depends on that row alone. The splits have 20,000, 4,129 and
// 6,033 complete rows, chosen by a keyed hash of a row's place in the file: 80 : 20 for train and
// test, with the validation part taken from train. This test part is not the one that UCI ships
// (adult.test). By the usual convention N and the sizes are public constants; neighbouring data
// sets differ in one row of a split.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "datasets/facts.h"
#include "harness/base/describe.h"
#include "harness/base/option_lines.h"

namespace hyfreedp::datasets {

inline constexpr std::size_t kAdultFeatures = 104;

enum class Capital { linear, log };
BOOST_DESCRIBE_ENUM(Capital, linear, log)
struct AdultOptions {
  Capital capital = Capital::linear;
};
BOOST_DESCRIBE_STRUCT(AdultOptions, (), (capital))

struct Adult {
  static Facts facts() {
    return {.name = "adult",
            .title = "Adult (census income)",
            .source = "Becker, Kohavi: Adult, UCI Machine Learning Repository, 1996, doi:10.24432/C5XW20",
            .how_to_get =
                "adult/adult.csv: adult.data of the UCI repository without the blanks after its commas, its "
                "question marks left empty, with a line of column names",
            .search_paths = {"$HYFREEDP_DATA/adult"},
            .files = {{"adult.csv", "5138b5b5c98caed85f1d168fa268339cfe6e9d033c3957515ab3a00396877174"}},
            .options = options_of<AdultOptions>(
                {plain_option("capital",
                              "capital gains and losses: linear: divided by 100,000 and 5,000 dollars; log: "
                              "log(1 + x) / log(100,000)")}),
            .sizes = sizes,
            .licence = "CC BY 4.0"};
  }
  static Sizes sizes(const json::object& /*options*/) {
    // A keyed hash divides the 30,162 complete rows: 80 % train and validation, 20 % test.
    return {.private_train = 20000,
            .private_validation = 4129,
            .test = 6033,
            .classes = 2,
            .features = static_cast<std::int64_t>(kAdultFeatures)};
  }
  static Result<Dataset> load(const Facts& facts, const json::object& options);
};

struct AdultTable {
  std::vector<float> features;       // [rows, kAdultFeatures]
  std::vector<std::int64_t> labels;  // [rows]
  std::vector<std::size_t> places;   // each row's line in the file, from 0, incomplete rows counted
};

// Reads the complete rows of a file, in its order. Errors, with their line: an unknown category,
// and a field that is not a number or is negative.
Result<AdultTable> read_adult(const std::string& path, bool log_capital);

// The rows of private_train, private_validation and test, as sorted indices of `places`: test has
// those with the `test` smallest hashes, private_validation those with the `validation` next ones.
// Requires test + validation <= places.size().
std::array<std::vector<std::int64_t>, 3> split_adult(const std::vector<std::size_t>& places,
                                                     std::int64_t validation, std::int64_t test);

}  // namespace hyfreedp::datasets
