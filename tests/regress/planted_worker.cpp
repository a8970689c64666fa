// A worker with the fault that HYFREEDP_PLANT names, for the tests of nightly comparisons and of
// hangs.
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "harness/training/worker/program.h"
#include "tests/training/faults.h"

int main(int count, char** arguments) {
  using namespace hyfreedp::training;
  const std::map<std::string, Parts> faults = {{"", {}},
                                               {"noise", scaled_noise(1.1)},
                                               {"eta", longer_steps(1.2)},
                                               {"frozen", first_layer_frozen()},
                                               {"slow", slower_steps()},
                                               {"waits", hanging_step(false)},
                                               {"loops", hanging_step(true)}};
  const char* name = std::getenv("HYFREEDP_PLANT");
  const auto found = faults.find(name == nullptr ? "" : name);
  if (found == faults.end()) {
    std::cerr << "HYFREEDP_PLANT is no fault: " << name << "\n";
    return 2;
  }
  return hyfreedp::worker::run_program(count, arguments, found->second);
}
