// The files of a published dataset, or the user's own copy of them, which the option `path` names.
// Without LibTorch.
#pragma once

#include <string>

#include "datasets/facts.h"

namespace hyfreedp::datasets {

struct PublishedFiles {
  std::string path;    // of the folder, or of the only file
  std::string folder;  // in which the published ones lie; empty: the user's own
  json::array marks;   // what they are known by: their checksums, or the mark of the user's own
};

// Errors: files that are not here.
Result<PublishedFiles> locate_published(const Facts& facts, const json::object& options);
// An error where they are not the published ones, or the user's own have changed.
Result<void> check_published(const Facts& facts, const PublishedFiles& files, const json::object& options);
// For Facts::complete: fills in the mark of the user's own copy, where it is here. Errors: options
// that have no effect without `path`.
Result<json::object> complete_own_copy(json::object options);

}  // namespace hyfreedp::datasets
