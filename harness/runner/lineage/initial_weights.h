// Finds the private data that were seen by the weights that enter a run: the initial ones (options
// `weights` and `adapter` of its model), and those of the frozen network that makes its features
// (option `weights` of its dataset).
//
// Folders that `hyfreedp run --keep-weights` wrote say so in trial.json, which is tagged under this
// user's secret (datasets/own/own_files.h), so that one that was edited is not believed; a folder
// without that file counts as public weights. A run's epsilon is that of its own steps. If its
// start had seen the same private data, that cost would not be counted; if its start is not a
// release, it would be published under the run's epsilon; if its test records were among those that
// its start had seen, their accuracy would be printed without noise. A spec that asks for any of
// these is refused when it is read.
#pragma once

#include <string>
#include <vector>

#include "datasets/same_data.h"
#include "harness/base/json.h"

namespace hyfreedp::runner {

// The releases of private data that enter a start, each once: [{"dataset", "marks" and "common"
// (absent: none), "division" and "set_aside" (how test records are told from the others), "secret"
// (that the marks are under; absent: not known), "reading" (as what own files were read), "epsilon"
// (null: none is claimed), "delta"}].
struct SeenData {
  json::array releases;
  bool is_known = true;  // all metadata are as this user's program wrote them
};

// Returns the data that the start has seen, by the options of a model or dataset. Errors: a folder
// that does not exist, that a run has staged (kept.json), or whose trial.json cannot be read, is
// watermarked or describes other files.
Result<SeenData> private_data_of_start(const json::object& options);

// True if a run kept the weights in `folder` and they are no release: trial.json has a watermark,
// or the run has not finished (kept.json). An error where trial.json cannot be read.
Result<bool> are_confidential(const std::string& folder);

// The members of a release that say which data it was about.
json::object named_data(const datasets::DataIdentity& data);

// Computes the member "tag" of metadata from the other members. An error if the user's secret
// cannot be made.
Result<std::string> tag_of(const json::object& metadata);

// Data whose test records such a run is evaluated on, without noise.
struct TestedData {
  std::string name;  // "the test split", "the ood_test 'shifted'"
  datasets::DataIdentity data;
  bool is_own = false;  // the test split of the data that the run trains on
};

// Checks whether runs on the data may start from the weights of these options: not where they have
// seen the same data (datasets::is_same_data), and not where it is not known what they have seen,
// because the metadata's tag is another or missing. `is_private`: whether an epsilon is claimed for
// any of the runs; if not, they may, but for runs whose test records others may train on
// (datasets::keeps_test_apart). Nor may runs with one on own files of which it is not known whether
// they have records of own files that the weights have seen, nor any run whose test records may be
// ones that the weights have seen (datasets::may_share_records).
Result<void> check_start(const json::object& options, const datasets::DataIdentity& data,
                         const std::vector<TestedData>& tested, bool is_private);

}  // namespace hyfreedp::runner
