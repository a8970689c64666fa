// The tables behind make_optimizer and make_controller, in the order of facts.h.
#pragma once

#include <string>
#include <vector>

namespace hyfreedp::optimizers {

std::vector<std::string> registered_optimizers();
std::vector<std::string> registered_controllers();

}  // namespace hyfreedp::optimizers
