#include "optimizers/dp_zo.h"

#include "optimizers/sgd.h"

namespace hyfreedp::optimizers {

Result<std::unique_ptr<Optimizer>> make_dp_zo(const DpZoOptions& options) { return make_sgd(options.sgd); }

}  // namespace hyfreedp::optimizers
