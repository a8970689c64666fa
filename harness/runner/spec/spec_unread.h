// Warns of what a spec says and nothing reads: a warning each, with its line, so that nobody takes
// it for something that the table shows.
#pragma once

#include <optional>
#include <vector>

#include "harness/runner/spec/spec_entry.h"
#include "harness/spec/spec.h"

namespace hyfreedp::runner {

// `document`: the top level as its preset makes it; `table` and `panels`: what was read of it.
void warn_of_unread(const Entry& document, const spec::Spec& spec, const std::vector<spec::Panel>& panels,
                    Problems& problems);

}  // namespace hyfreedp::runner
