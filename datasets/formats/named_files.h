// The files that make up a data set, by their names alone, out of a folder or tar.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/image/archive.h"
#include "harness/base/result.h"

namespace hyfreedp::datasets {

// Takes the file names[index]; `where` names it for errors.
using VisitNamed =
    std::function<Result<void>(std::size_t index, const std::string& where, std::string_view bytes)>;

// Calls `visit` for each of `names` once, in the order in which the files come. They may lie in any
// folder; other files are passed over. Errors begin with `path`: those of visit_files and of
// `visit`, a name that is not there, or that is there twice.
Result<void> visit_named_files(const std::string& path, const std::vector<std::string>& names,
                               const VisitNamed& visit, const ArchiveLimits& limits = {});

}  // namespace hyfreedp::datasets
