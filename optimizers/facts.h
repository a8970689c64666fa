// Names, sources and options of every optimizer and learning-rate controller, without LibTorch.
#pragma once

#include <string>
#include <vector>

#include "harness/base/options.h"

namespace hyfreedp::optimizers {

// Of hyfreedp's option difference_share.
inline constexpr double kDifferenceShare = 0.1;

struct Facts {
  std::string name;    // as a spec writes it
  std::string title;   // as a person reads it
  std::string source;  // paper or package whose rule it is
  std::vector<OptionSpec> options;
  bool owns_step_size = false;    // optimizer: takes no learning-rate controller but "constant"
  bool probes = false;            // controller: needs private loss probes, so the privacy plan must have them
  bool non_private_only = false;  // controller: its rule assumes exact losses; a private plan must refuse it
};

const std::vector<Facts>& optimizer_facts();
const std::vector<Facts>& controller_facts();
// An unknown name lists the valid ones and the nearest match.
Result<const Facts*> find_optimizer(const std::string& name);
Result<const Facts*> find_controller(const std::string& name);

}  // namespace hyfreedp::optimizers
