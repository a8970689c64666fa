// Runs that neither the database nor a release record names.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/runner/odometer/out_folder.h"
#include "harness/runner/spec/plan.h"
#include "results/store/store.h"

namespace hyfreedp::runner {

// The latest release of which the folder has a journal of a run that may be of a private unseeded
// selection of `planned`, studies that the database does not have: the database and the spec's
// release record were lost or are older copies, or a version before 0.7 made it. None where there
// is no such journal. A journal that cannot be read may be anybody's, of release 0. Journals that
// do not count are those of trials that the database or a row lists, and those that are like the
// runs of a known private selection of their release, which are listed nowhere, and unlike those of
// `planned`, which have its data, planned events, seed and release. restore_for() must have
// been called.
Result<std::optional<std::int64_t>> latest_unrecorded(const results::Store& store, const OutFolder& out,
                                                      const std::vector<PlannedStudy>& planned);

// The latest release of which the folder has a journal that can be read; none where there is none.
Result<std::optional<std::int64_t>> latest_release_of_journals(const OutFolder& out);

}  // namespace hyfreedp::runner
