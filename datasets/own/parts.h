// The parts of a user's own files of records: the file to train on and perhaps one to test on, and
// which record is for training, validation or test. This code has no LibTorch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/describe.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// How many records of each split are taken; where absent, all.
struct CountOptions {
  std::optional<std::int64_t> train, validation, test;
};
BOOST_DESCRIBE_STRUCT(CountOptions, (), (train, validation, test))

struct PartFiles {
  std::string train;  // empty: there are only files to test on
  std::optional<std::string> test;
};
// The endings that such files' names may have; `more`: in folders alone, and what an error says of
// these.
struct PartEndings {
  std::span<const char* const> endings;
  std::span<const char* const> more = {};
  std::string about_more = {};
};
// `path` itself, or train.EXT and test.EXT of the folder `path`. Where `options` ask for no record
// but those of test (datasets::test_alone), a folder may have test.EXT alone. Errors: another
// ending, no train.EXT, two files of one part.
Result<PartFiles> part_files(const std::string& path, const PartEndings& endings,
                             const json::object& options);

// The records of one split, by their place in the train or in the test file.
struct SplitPlaces {
  bool of_test_file = false;
  std::vector<std::int64_t> places;
};
// private_train, private_validation and test, of the sizes that the options ask for; `train` and
// `test`: records of both files. Without a test file (`test` is 0), a record is in the test part if
// a hash of its place is in the lowest tenth; it is for validation in the next tenth (in the
// lowest, where there is a test file). A smaller number of records is a part of a larger one.
// Errors, which call the records `noun`: more asked for than there are, and an empty part.
Result<std::array<SplitPlaces, 3>> split_places(std::size_t train, std::size_t test,
                                                const json::object& options, const char* noun);

// Tells the owner of such files that no record of test is of the classes `missing`, of which there
// is one at least.
std::string untested_note(const std::string& path, const char* record, std::vector<std::string> missing);

// Checks the options for files that are not here, for the reason `absent`: an error unless they
// give all of these sizes, so that the spec can be planned.
Result<void> check_sizes_given(const Error& absent, const json::object& options,
                               const std::vector<std::string>& sizes);

}  // namespace hyfreedp::datasets
