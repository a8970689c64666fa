// Every network that a spec can name.
#pragma once

#include "harness/models/networks/description.h"

namespace hyfreedp::models {

// All registered networks, in the order in which they are listed.
const std::vector<Facts>& model_facts();
// An error that lists the names and the nearest one.
Result<const Facts*> find_model(const std::string& name);

}  // namespace hyfreedp::models
