#include "optimizers/registry.h"

#include <functional>

#include "optimizers/adadp.h"
#include "optimizers/adam.h"
#include "optimizers/constant.h"
#include "optimizers/dadapt_adam.h"
#include "optimizers/dadapt_sgd.h"
#include "optimizers/dog.h"
#include "optimizers/dowg.h"
#include "optimizers/dp_zo.h"
#include "optimizers/dpadamwosm.h"
#include "optimizers/facts.h"
#include "optimizers/free_slope.h"
#include "optimizers/gen.h"
#include "optimizers/hyfreedp.h"
#include "optimizers/hyfreedp_plus.h"
#include "optimizers/learning_rate.h"
#include "optimizers/optimizer.h"
#include "optimizers/prodigy.h"
#include "optimizers/schedule.h"
#include "optimizers/sgd.h"
#include "optimizers/template.h"

namespace hyfreedp::optimizers {
namespace {

template <class T>
struct Entry {
  const char* name;
  std::function<Result<std::unique_ptr<T>>(const json::object& resolved)> make;

  template <class Options>
  Entry(const char* entry, Result<std::unique_ptr<T>> (*from)(const Options&))
      : name(entry),
        make([from](const json::object& resolved) { return from(read_options<Options>(resolved)); }) {}
};

// clang-format off
const Entry<Optimizer> kOptimizers[] = {
    {"sgd", make_sgd},
    {"adam", make_adam},
    {"adamw", make_adamw},
    {"prodigy", make_prodigy},
    {"d-adapt-adam", make_d_adapt_adam},
    {"d-adapt-sgd", make_d_adapt_sgd},
    {"dog", make_dog},
    {"dowg", make_dowg},
    {"dpadamwosm", make_dpadamwosm},
    {"adadp", make_adadp},
    {"signum", make_signum},
    {"dp-zo", make_dp_zo},
    // New optimizers go above this line.
};

const Entry<LearningRateController> kControllers[] = {
    {"constant", make_constant},
    {"schedule", make_schedule},
    {"hyfreedp", make_hyfreedp},
    {"hyfreedp-plus", make_hyfreedp_plus},
    {"gen", make_gen},
    {"free-slope", make_free_slope},
    // New controllers go above this line.
};
// clang-format on

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

// `facts` is the entry's own, so its options can be resolved (again: resolving is idempotent)
// before the rule reads them; a caller that passes a partial object gets the defaults.
template <class T, class Table>
Result<std::unique_ptr<T>> make(const Table& table, const Result<const Facts*>& facts,
                                const json::object& options) {
  if (!facts) return facts.error();
  const std::string& name = (*facts)->name;
  auto resolved = resolve_options((*facts)->options, options, "options of '" + name + "'");
  if (!resolved) return resolved.error();
  for (const auto& entry : table) {
    if (name == entry.name) return entry.make(*resolved);
  }
  return error("'" + name + "' has facts but no entry in optimizers/registry.cpp; add its line there.");
}

}  // namespace

std::vector<std::string> registered_optimizers() { return names_of(kOptimizers); }
std::vector<std::string> registered_controllers() { return names_of(kControllers); }

Result<std::unique_ptr<Optimizer>> make_optimizer(const std::string& name, const json::object& options) {
  return make<Optimizer>(kOptimizers, find_optimizer(name), options);
}

Result<std::unique_ptr<LearningRateController>> make_controller(const std::string& name,
                                                                const json::object& options) {
  return make<LearningRateController>(kControllers, find_controller(name), options);
}

}  // namespace hyfreedp::optimizers
