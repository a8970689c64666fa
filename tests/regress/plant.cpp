// Plants the bug that HYFREEDP_PLANT names, before the worker's main: for the worker of the tests
// alone.
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "harness/trial/test_seam.h"

namespace hyfreedp {
namespace {

bool plant_from_environment() {
  static const std::map<std::string, Bug> bugs = {{"noise", Bug::noise_tenth_more},
                                                  {"eta", Bug::eta_fifth_more},
                                                  {"frozen", Bug::layer_frozen},
                                                  {"slow", Bug::step_fifth_slower}};
  const char* name = std::getenv("HYFREEDP_PLANT");
  if (name == nullptr || *name == '\0') return false;
  const auto found = bugs.find(name);
  if (found == bugs.end()) {
    std::cerr << "HYFREEDP_PLANT is no bug: " << name << "\n";
    std::exit(2);
  }
  plant(found->second);
  return true;
}

[[maybe_unused]] const bool is_planted = plant_from_environment();

}  // namespace
}  // namespace hyfreedp
