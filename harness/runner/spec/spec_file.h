// The file of a spec, as text; where there is none, what was probably meant.
#pragma once

#include <string>

#include "harness/base/result.h"

namespace hyfreedp::runner {

// A folder is refused with the specs in it. A file that is not there is refused with the nearest
// name of a .yaml file: beside it, else below `experiments` of the folder the program runs in
// ("quick" is experiments/quick.yaml).
Result<std::string> read_spec_file(const std::string& path);

}  // namespace hyfreedp::runner
