// Checks that what `--set` gives has an effect.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/runner/spec/spec_sources.h"

namespace hyfreedp::runner {

// The canonical JSON of what is read from sources; nothing where something is wrong.
using ContentOf = std::function<std::optional<std::string>(const SpecSources& sources)>;

// A mistake for each setting that leaves the spec as it is because nothing reads its value, with
// what wins over it; a warning where the spec has that value already. `document`, `content`: what
// the sources give.
void check_settings(const SpecSources& sources, const Entry& document, const std::string& content,
                    const ContentOf& content_of, Problems& problems);

}  // namespace hyfreedp::runner
